import type { MemberAttributes, MemberRecord, MemberState } from '../../../guards/allowlist/port.js'

/**
 * The attributes of a member as text: `ADDED_AT[,EXPIRES_AT][ JSON]`, times in epoch milliseconds, JSON with
 * `addedBy` and `metadata` if there are any. A member without attributes was put into the set by another program.
 */

/** A field of the attributes hash that no customer id can have; `INCARNATION.GENERATION`. */
export const GENERATION_FIELD = '#generation'

export const generationValue = (incarnation: number, generation: number): string =>
  `${incarnation}.${generation}`

/** The text after ADDED_AT, which the scripts set. */
export function attributesTail({ addedBy, metadata, expiresAt }: MemberAttributes): string {
  const expiry = expiresAt === undefined ? '' : `,${expiresAt}`
  if (addedBy === undefined && metadata === undefined) return expiry
  const rest = { ...(addedBy !== undefined && { addedBy }), ...(metadata !== undefined && { metadata }) }
  return `${expiry} ${JSON.stringify(rest)}`
}

export function readState(text: string | null): MemberState {
  if (text === null) return {}
  const space = text.indexOf(' ')
  const times = space < 0 ? text : text.slice(0, space)
  const comma = times.indexOf(',')
  if (comma < 0) return { addedAt: Number(times) }
  return { addedAt: Number(times.slice(0, comma)), expiresAt: Number(times.slice(comma + 1)) }
}

export function readMember(customerId: string, text: string | null): MemberRecord {
  const space = text === null ? -1 : text.indexOf(' ')
  const rest = space < 0 ? {} : (JSON.parse(text!.slice(space + 1)) as Pick<MemberAttributes, 'addedBy'>)
  return { customerId, addedAt: 0, ...readState(text), ...rest }
}
