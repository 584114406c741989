import { createHash } from 'node:crypto'
import { encodeName, encodePart } from '../../../core/encode-identifier.js'
import { invalid } from '../../../core/errors.js'
import { resourceName } from '../../../guards/rate-limit/levels.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Entry } from '../messages.js'
import type { DescriptorEntry, DescriptorRule } from '../options.js'

export const MAX_DESCRIPTORS = 100
export const MAX_ENTRIES = 16
const SHARED = 'all'
/** The longest identifier. */
const MAX_ENTITY = 256

/** Whose limits a descriptor takes from. */
export function subjectOf(
  domain: string,
  entries: readonly Entry[],
  rules: readonly DescriptorRule[],
  path: string,
): Subject {
  if (entries.length === 0 || entries.length > MAX_ENTRIES) {
    throw invalid(`${path}.entries`, `must hold 1 to ${MAX_ENTRIES} entries`)
  }
  const rule = rules.find((one) => fits(one, domain, entries))
  const values =
    rule?.entity === undefined ? entries : entries.filter(({ key }) => rule.entity!.includes(key!))
  return {
    resource: rule?.resource ?? defaultResource(domain, entries, path),
    entity: values.length === 0 ? SHARED : entityOf(values),
  }
}

function defaultResource(domain: string, entries: readonly Entry[], path: string): string {
  let resource = encodeName(domain, 'domain')
  for (let i = 0; i < entries.length; i++) {
    resource += `.${encodeName(entries[i]!.key ?? '', `${path}.entries[${i}].key`)}`
  }
  return resourceName(`${path}.entries`, resource)
}

/**
 * Encoding leaves no `:` in a value, so that no two descriptors share an entity. Clients write values: each of them is an
 * entity, because a gateway lets requests pass whose call fails.
 */
function entityOf(entries: readonly Entry[]): string {
  const values = entries.map(({ value = '' }) => value)
  const length = values.reduce((sum, value) => sum + value.length, 0)
  if (length > MAX_ENTITY) return digestOf(values)
  // An encoded text has two digits behind each `~`.
  const joined = values.map((value) => (value === '' ? '~' : encodePart(value))).join(':')
  return joined.length > MAX_ENTITY ? digestOf(values) : joined
}

const digestOf = (values: readonly string[]): string =>
  `~~${createHash('sha256').update(JSON.stringify(values)).digest('hex')}`

function fits(rule: DescriptorRule, domain: string, entries: readonly Entry[]): boolean {
  return (
    (rule.domain === undefined || rule.domain === domain) &&
    rule.entries.length === entries.length &&
    rule.entries.every((wanted, i) => fitsEntry(wanted, entries[i]!))
  )
}

function fitsEntry({ key, value }: DescriptorEntry, entry: Entry): boolean {
  if (key !== entry.key) return false
  if (value === undefined) return true
  const given = entry.value ?? ''
  return value.endsWith('*') ? given.startsWith(value.slice(0, -1)) : given === value
}
