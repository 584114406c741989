import { useFormat, useTexts } from '../../texts/language.js'

const MANY = 10
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/
/** Fields of a rule that are epoch milliseconds. */
const TIMES: ReadonlySet<string> = new Set(['startTime', 'endTime', 'at'])

/** The fields of an entry by their paths (`config.percentage`), each as JSON, so that they can be compared. */
export function fieldsOf(value: unknown, path = ''): Map<string, string> {
  const isNested = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isNested)
    return new Map(value === undefined ? [] : [[path === '' ? 'value' : path, JSON.stringify(value)]])
  const fields = new Map<string, string>()
  for (const [name, inner] of Object.entries(value)) {
    for (const [key, text] of fieldsOf(inner, path === '' ? name : `${path}.${name}`)) fields.set(key, text)
  }
  return fields
}

export interface FieldWords {
  name(path: string): string
  /** The name within a sentence. */
  inSentence(path: string): string
  value(path: string, json: string): string
}

/** Names and values for readers: shares in percent, times in their zone. Unknown fields stay unchanged. */
export function useFieldWords(): FieldWords {
  const { audit: texts, waves } = useTexts()
  const format = useFormat()
  const ofRule = Object.entries(waves.fields).map(([name, text]) => [`config.${name}`, text])
  const names: Record<string, string> = { ...texts.fields, ...Object.fromEntries(ofRule) }
  const say = (name: string, value: unknown): string => {
    if (value === null) return '–'
    if (typeof value === 'boolean') return value ? texts.yes : texts.no
    if (typeof value === 'string') return ISO_TIME.test(value) ? format.dateTime(value) : value
    if (typeof value === 'number') {
      if (name === 'percentage') return format.percent(value, 6)
      return TIMES.has(name) ? format.dateTime(value) : format.number(value, 6)
    }
    if (Array.isArray(value)) {
      const some = value.slice(0, MANY).map((inner) => say(name, inner))
      return value.length > MANY ? `${some.join(', ')} … (${format.number(value.length)})` : some.join(', ')
    }
    if (isStep(value)) return `${say('at', value.at)}: ${say('percentage', value.percentage)}`
    return JSON.stringify(value)
  }
  const nameOf = (path: string): string =>
    names[path] ??
    path
      .split('.')
      .map((part) => names[part] ?? part)
      .join(' · ')
  return {
    name: nameOf,
    inSentence: (path) => {
      const name = nameOf(path)
      return name.charAt(0).toLowerCase() + name.slice(1)
    },
    value: (path, json) => say(path.split('.').at(-1)!, JSON.parse(json)),
  }
}

function isStep(value: unknown): value is { at: unknown; percentage: unknown } {
  return typeof value === 'object' && value !== null && 'at' in value && 'percentage' in value
}
