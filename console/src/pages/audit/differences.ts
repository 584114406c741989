import { useFormat } from '../../texts/language.js'
import { type Rule, shareNow } from '../allowlists/wave/rule.js'
import type { Entry } from './audit.js'
import { fieldsOf, useFieldWords } from './fields.js'

/** More would be no sentence any more. */
const SHOWN = 2
const LONGEST = 60
/** It changes with every change. */
const UNTOLD: ReadonlySet<string> = new Set(['version', 'value', 'id', 'createdAt'])

/** Of these, what was set is told although nothing was there before. */
const NEW_TOLD: ReadonlySet<string> = new Set(['limit.config.set', 'key.create'])

type Settings = { config?: Rule } | undefined

/** The differences of an entry in a few words, such as "25% → 0%". */
export function useDifferences(): (entry: Entry) => string {
  const words = useFieldWords()
  const format = useFormat()
  const arrow = (was: string, is: string): string => `${was} → ${is}`
  /** What a wave let in before and after, which the fields of its rule do not say. */
  const shares = ({ at, before, after }: Entry): string | undefined => {
    const [was, is] = [(before as Settings)?.config, (after as Settings)?.config]
    if (was?.strategy === undefined || is?.strategy === undefined) return undefined
    const [had, has] = [was, is].map((rule) => shareNow(rule, Date.parse(at)))
    return had === has ? undefined : arrow(format.percent(had!, 4), format.percent(has!, 4))
  }
  return (entry) => {
    const { before, after, detail } = entry
    if (entry.action === 'entity.set') return (after as { parent?: string } | undefined)?.parent ?? ''
    const share = shares(entry)
    // A pause sets the ramp aside, which is no news.
    if (entry.action === 'allowlist.pause' || entry.action === 'allowlist.resume') return share ?? ''
    if (entry.action === 'allowlist.import') return counts(detail, words)
    const isNew = before === undefined && NEW_TOLD.has(entry.action)
    if ((before === undefined || after === undefined) && !isNew) return ''
    const [was, is] = [fieldsOf(before), fieldsOf(after)]
    const names = [...new Set([...was.keys(), ...is.keys()])].filter(
      (name) =>
        !UNTOLD.has(name) &&
        was.get(name) !== is.get(name) &&
        !(share !== undefined && name === 'config.percentage'),
    )
    let group = ''
    const said = names.map((name) => {
      const [old, next] = [was, is].map((fields) =>
        fields.has(name) ? words.value(name, fields.get(name)!) : '–',
      )
      const quoted = (text: string): string => (name === 'name' ? `“${text}”` : text)
      const change = isNew ? cut(next!) : arrow(quoted(old!), quoted(next!))
      // The fields of a limit follow its name, which is said once.
      const limit = /^limits\.(.+)\.\w+$/.exec(name)?.[1] ?? ''
      const begin = limit === group || limit === '' ? '' : `${limit}: `
      group = limit
      const field = words.inSentence(limit === '' ? name : name.slice(name.lastIndexOf('.') + 1))
      return change.length > LONGEST ? begin + field : `${begin}${field} ${change}`
    })
    const all = [...(share === undefined ? [] : [share]), ...said]
    return all.length > SHOWN
      ? `${all.slice(0, SHOWN).join(', ')}, +${format.number(all.length - SHOWN)}`
      : all.join(', ')
  }
}

/** The beginning of a long text. */
const cut = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 2).replace(/,? \S*$/, '')} …`

const COUNTS = ['added', 'removed', 'rejected'] as const

function counts(detail: unknown, words: ReturnType<typeof useFieldWords>): string {
  const fields = fieldsOf(detail)
  return COUNTS.filter((name) => fields.has(name) && fields.get(name) !== '0')
    .map((name) => `${words.value(name, fields.get(name)!)} ${words.inSentence(name)}`)
    .join(', ')
}
