import { CatracaError } from '../../../core/errors.js'
import { KIND, type LimitState } from '../../../guards/rate-limit/algorithms/algorithm.js'
import type { SubjectState } from '../../../guards/rate-limit/decide.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'
import {
  bigintOf,
  type Item,
  number,
  numberOf,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'

/** The attributes of each kind of state, each followed by `#` and the name of the limit. */
const ATTRIBUTES = {
  bucket: ['full', 'at'],
  fixed: ['start', 'used'],
  counter: ['start', 'used', 'before'],
  log: ['sum', 'log'],
  slots: ['sum', 'log'],
} as const
type Kind = keyof typeof ATTRIBUTES

export const attributeOf = (what: string, name: string): string => `${what}#${name}`
const RULE_PREFIX = 'rule#'

/** The parts of a rule that the state depends on: if they differ, numbers cannot just be added. */
export function ruleText({ algorithm, unitsPerMs, unitsPerToken, capacity, periodMs }: Rule): string {
  switch (algorithm) {
    case 'token-bucket':
      return `bucket ${unitsPerMs} ${unitsPerToken} ${capacity}`
    case 'fixed-window':
      return `fixed ${periodMs}`
    case 'sliding-window-counter':
      return `counter ${periodMs}`
    case 'sliding-window':
      return 'log'
    case 'concurrency':
      return 'slots'
  }
}

/** One limit of a subject, as last read. */
export interface KnownLimit {
  rule: string
  state: LimitState
}

/** The item of a subject as last read; without limits if there was none. */
export interface CachedSubject {
  /** Mark of the last write; absent if there is no item. */
  mark: string | undefined
  /** Epoch seconds. */
  ttl: number | undefined
  limits: ReadonlyMap<string, KnownLimit>
}

export const NOTHING: CachedSubject = { mark: undefined, ttl: undefined, limits: new Map() }

export const statesOf = ({ limits }: CachedSubject): SubjectState =>
  Array.from(limits, ([name, { state }]) => [name, state] as const).filter(([, state]) => isUsed(state))

/** A log may be empty, and more may have been given back to a bucket than was consumed. */
export const isUsed = (state: LimitState): boolean =>
  state.length > 1 && (state[0] !== KIND.bucket || state[1]! > 0)

export function readKnown(item: Item | undefined): CachedSubject {
  if (item === undefined) return NOTHING
  const limits = new Map<string, KnownLimit>()
  for (const attribute in item) {
    if (!attribute.startsWith(RULE_PREFIX)) continue
    const name = attribute.slice(RULE_PREFIX.length)
    const rule = item[attribute]!.S ?? ''
    limits.set(name, { rule, state: readState(item, name, rule) })
  }
  return { mark: optionalText(item, 'mark'), ttl: optionalNumber(item, 'ttl'), limits }
}

function readState(item: Item, name: string, rule: string): LimitState {
  const [kind, ...parts] = rule.split(' ')
  const value = (what: string) => numberOf(item, attributeOf(what, name))
  switch (kind as Kind) {
    case 'bucket': {
      const [unitsPerMs, unitsPerToken, capacity] = parts.map(Number) as [number, number, number]
      const at = value('at')
      const full = bigintOf(item, attributeOf('full', name))
      return [KIND.bucket, Number(full - unitsAt(at, unitsPerMs)), at, unitsPerToken, capacity]
    }
    case 'fixed':
      return [KIND.fixed, value('start'), value('used'), Number(parts[0])]
    case 'counter':
      return [KIND.counter, value('start'), value('used'), value('before'), Number(parts[0])]
    case 'log':
      return [KIND.log, ...readLog(item, name)]
    case 'slots':
      return [KIND.slots, ...readLog(item, name)]
    default:
      throw new CatracaError(
        'STORE_CORRUPT',
        `${RULE_PREFIX}${name} of ${item.PK?.S ?? 'an item'} is no rule that this version knows`,
      )
  }
}

function readLog(item: Item, name: string): number[] {
  const entries = Object.entries(item[attributeOf('log', name)]?.M ?? {})
  return entries
    .map(([at, amount]) => [Number(at), Number(amount.N)] as const)
    .sort(([a], [b]) => a - b)
    .flat()
}

/** The time in units of a bucket. For fine rules above 2^53, which DynamoDB stores exactly and a double does not. */
export const unitsAt = (ms: number, unitsPerMs: number): bigint => BigInt(ms) * BigInt(unitsPerMs)

/** Reads it from the text of a bucket's rule. */
export const unitsPerMsOf = (rule: string): number => Number(rule.split(' ')[1])

/** The attributes of a state that is counted with a rule; none without a state. */
export function writeState(name: string, rule: string, state: LimitState | undefined): Item {
  if (state === undefined) return {}
  const item: Item = { [RULE_PREFIX + name]: text(rule) }
  const put = (what: string, value: number | bigint) => {
    item[attributeOf(what, name)] = number(value)
  }
  switch (state[0]) {
    case KIND.bucket:
      put('full', unitsAt(state[2]!, unitsPerMsOf(rule)) + BigInt(state[1]!))
      put('at', state[2]!)
      break
    case KIND.fixed:
    case KIND.counter:
      put('start', state[1]!)
      put('used', state[2]!)
      if (state[0] === KIND.counter) put('before', state[3]!)
      break
    default: {
      const entries: Item = {}
      let sum = 0
      for (let i = 1; i < state.length; i += 2) {
        entries[String(state[i])] = number(state[i + 1]!)
        sum += state[i + 1]!
      }
      put('sum', sum)
      item[attributeOf('log', name)] = { M: entries }
    }
  }
  return item
}

/** Names of all attributes of a limit in an item. */
export function attributesOf(name: string, known: KnownLimit | undefined): string[] {
  if (known === undefined) return []
  const kind = known.rule.split(' ')[0] as Kind
  return [RULE_PREFIX + name, ...ATTRIBUTES[kind].map((what) => attributeOf(what, name))]
}
