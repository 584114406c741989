import {
  configFields,
  type Level,
  type LevelConfig,
  LIMIT_FIELDS,
  type Limit,
  type LimitField,
  NUMBER_FIELDS,
} from './model.js'

/** A limit as typed: an empty field is inherited. */
export interface LimitDraft {
  /** Stays the same while the name is typed. */
  key: number
  name: string
  fields: Record<LimitField, string>
}

export interface Draft {
  limits: LimitDraft[]
  others: Record<'onUnavailable' | 'autoUpdate' | 'strictVersion', string>
}

export type Faults = Record<string, 'name' | 'twice' | 'number' | 'empty'>

let lastKey = 0

export function draftLimit(name: string, limit: Limit): LimitDraft {
  const text = (field: LimitField): string => (limit[field] === undefined ? '' : String(limit[field]))
  const fields = Object.fromEntries(LIMIT_FIELDS.map((field) => [field, text(field)]))
  return { key: ++lastKey, name, fields: fields as Record<LimitField, string> }
}

export function draftOf(config: LevelConfig | undefined): Draft {
  const text = (value: unknown): string => (value === undefined ? '' : String(value))
  return {
    limits: Object.entries(config?.limits ?? {}).map(([name, limit]) => draftLimit(name, limit)),
    others: {
      onUnavailable: text(config?.onUnavailable),
      autoUpdate: text(config?.autoUpdate),
      strictVersion: text(config?.strictVersion),
    },
  }
}

/** Compares without the keys of the cards. */
export function sameDraft(one: Draft, other: Draft): boolean {
  const plain = ({ limits, others }: Draft): string =>
    JSON.stringify([limits.map(({ name, fields }) => [name, fields]), others])
  return plain(one) === plain(other)
}

/** A card without input does not count. */
function filled({ limits }: Draft): LimitDraft[] {
  return limits.filter(
    ({ name, fields }) => name.trim() !== '' || Object.values(fields).some((value) => value.trim() !== ''),
  )
}

/** The configuration of the draft; fields that are not numbers yet are left out. */
export function configOf(draft: Draft, level: Level): LevelConfig {
  const limits = Object.fromEntries(filled(draft).map(({ name, fields }) => [name.trim(), limitFrom(fields)]))
  const others: Record<string, string | boolean> = {}
  for (const field of configFields(level)) {
    const value = draft.others[field]
    if (value !== '') others[field] = field === 'onUnavailable' ? value : value === 'true'
  }
  return { limits, ...others }
}

function limitFrom(fields: LimitDraft['fields']): Limit {
  const limit: Record<string, string | number> = {}
  for (const field of LIMIT_FIELDS) {
    const value = fields[field].trim()
    if (value === '') continue
    if (!isNumberField(field)) limit[field] = value
    else if (isAmount(value)) limit[field] = Number(value)
  }
  return limit as Limit
}

export const isNumberField = (field: LimitField): field is (typeof NUMBER_FIELDS)[number] =>
  (NUMBER_FIELDS as readonly string[]).includes(field)

const isAmount = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text)

/** Errors by `key` and field; the server reports the others. */
export function faultsOf(draft: Draft): Faults {
  const faults: Faults = {}
  const limits = filled(draft)
  const names = limits.map(({ name }) => name.trim())
  for (const [index, { key, fields }] of limits.entries()) {
    if (names[index] === '') faults[`${key}.name`] = 'name'
    else if (names.indexOf(names[index]!) !== index) faults[`${key}.name`] = 'twice'
    for (const field of NUMBER_FIELDS) {
      const value = fields[field].trim()
      if (value !== '' && !isAmount(value)) faults[`${key}.${field}`] = 'number'
    }
  }
  const saysNothing = limits.length === 0 && Object.values(draft.others).every((value) => value === '')
  if (saysNothing) faults.form = 'empty'
  return faults
}
