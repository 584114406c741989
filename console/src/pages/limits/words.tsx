import { useMemo } from 'react'
import type { Texts } from '../../texts/en.js'
import type { Format } from '../../texts/format.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type FieldLevel, type Limit, type LimitField, NUMBER_FIELDS } from './model.js'

/** A limit is incomplete without these. */
const NEEDED_FIELDS = ['capacity', 'refillPeriodSeconds'] as const

const UNITS: [string, number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]

/** In the largest unit that divides it: 60 is "1 min", 90 is "90 s". */
export function period(seconds: number, format: Format): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0) ?? UNITS.at(-1)!
  return `${format.number(seconds / size)} ${unit}`
}

/** Time left, in at most two units. */
export function timeLeft(ms: number, format: Format): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 120) return `${format.number(seconds)} s`
  const at = UNITS.findIndex(([, size]) => seconds >= size)
  const [[unit, size], [lesser, lesserSize]] = [UNITS[at]!, UNITS[at + 1]!]
  const rest = Math.floor((seconds % size) / lesserSize)
  const first = `${format.number(Math.floor(seconds / size))} ${unit}`
  return rest === 0 ? first : `${first} ${rest} ${lesser}`
}

/** A limit as a sentence, such as "100 every 1 min, bursts to 200". */
export function useLimitWords(): (limit: Limit) => string {
  const { limits: texts } = useTexts()
  const format = useFormat()
  return useMemo(() => {
    const { words } = texts
    const rule = (limit: Limit): string => {
      const { capacity, refillPeriodSeconds, burst = capacity, refillAmount = capacity } = limit
      if (capacity === undefined || refillPeriodSeconds === undefined) return incomplete(limit)
      const time = period(refillPeriodSeconds, format)
      const count = format.number(capacity)
      switch (limit.algorithm ?? 'token-bucket') {
        case 'fixed-window':
          return words.fixed(count, time)
        case 'sliding-window':
          return words.sliding(count, time)
        case 'sliding-window-counter':
          return words.estimated(count, time)
        case 'concurrency':
          return words.concurrency(count, time)
        default:
          return words.bucket(format.number(refillAmount!), time, format.number(Math.max(burst!, capacity)))
      }
    }
    const incomplete = (limit: Limit): string => {
      const said = NUMBER_FIELDS.filter((field) => limit[field] !== undefined)
      const parts = said.map(
        (field) => `${fieldName(texts, field)} ${shownField(field, limit[field], format)}`,
      )
      const missing = NEEDED_FIELDS.filter((field) => limit[field] === undefined)
      return words.incomplete(parts.join(', '), missing.map((field) => fieldName(texts, field)).join(', '))
    }
    return (limit) => (limit.mode === 'shadow' ? words.shadow(rule(limit)) : rule(limit))
  }, [texts, format])
}

/** The period is shown with its unit, so its label has none. */
export function fieldName(texts: Texts['limits'], field: LimitField): string {
  return field === 'refillPeriodSeconds' ? texts.period : texts.fields[field]
}

export function shownField(field: LimitField, value: string | number | undefined, format: Format): string {
  return field === 'refillPeriodSeconds' ? period(Number(value), format) : shownValue(value, format)
}

export function shownValue(value: string | number | boolean | undefined, format: Format): string {
  return typeof value === 'number' ? format.number(value) : String(value)
}

/** The level that a value comes from, as a word with a colour. */
export function LevelTag({ level }: { level: FieldLevel }) {
  const { limits: texts } = useTexts()
  return <span className={`level level-${level.replace(':*', '')}`}>{texts.levels[level]}</span>
}

/** Limits by name, each as a sentence. */
export function LimitList({ items }: { items: readonly { name: string; limit: Limit }[] }) {
  const words = useLimitWords()
  return (
    <ul className="limit-list">
      {items.map(({ name, limit }) => (
        <li key={name}>
          <strong>{name}</strong> <span>{words(limit)}</span>
        </li>
      ))}
    </ul>
  )
}
