import { isoTime } from '../../core/clock.js'
import type { MemberAttributes, MemberStore } from '../allowlist/port.js'
import type { AuditedAction, AuditTrail, Outcomes } from './index.js'
import type { PreparedEntry } from './port.js'
import { recording } from './recording.js'
import type { AuditTarget } from './types.js'

const ADDING: Outcomes = { added: { added: true }, replaced: { added: false } }
/** A removal that changed nothing is not recorded. */
const REMOVING: Outcomes = { removed: 'plain' }

/**
 * A member store that records every change. It wraps the store and not the guard, because the engine may store the
 * entry in the same transaction: then a change and its entry are always stored together, and a change waits for
 * one write. `isTogether`: the trail is in the same store as the members.
 */
export function recordedMembers(members: MemberStore, trail: AuditTrail, isTogether: boolean): MemberStore {
  const keepsNotes = members.storesAuditEntries && isTogether
  const recorded = <T extends { outcome: string }>(
    audited: AuditedAction,
    outcomes: Outcomes,
    change: (note: PreparedEntry | undefined) => Promise<T>,
  ): Promise<T> => {
    const note = keepsNotes ? trail.prepareEntry(audited, outcomes) : undefined
    return recording(trail, () => change(note), {
      isOneWrite: note !== undefined,
      asked: () => audited,
      done({ outcome }) {
        const detail = outcomes[outcome]
        if (detail === undefined) return []
        if (note === undefined) return [detail === 'plain' ? audited : { ...audited, detail }]
        trail.countStored(audited)
        return []
      },
    })
  }
  return {
    storesAuditEntries: false,
    add(listId, customerId, attributes, now) {
      const after = given(attributes)
      const audited: AuditedAction = {
        action: 'allowlist.member.add',
        target: memberOf(listId, customerId),
        after,
      }
      return recorded(audited, ADDING, (note) => members.add(listId, customerId, attributes, now, note))
    },
    remove(listId, customerId, now) {
      const audited: AuditedAction = {
        action: 'allowlist.member.remove',
        target: memberOf(listId, customerId),
      }
      return recorded(audited, REMOVING, (note) => members.remove(listId, customerId, now, note))
    },
    get: (listId, customerId) => members.get(listId, customerId),
    page: (listId, after, limit) => members.page(listId, after, limit),
    listsOf: (customerId, after, limit) => members.listsOf(customerId, after, limit),
  }
}

/**
 * A member store that records nothing. Each change has the timeout of one write, however many writes the engine makes.
 */
export function boundedMembers(members: MemberStore, { deadlines }: AuditTrail): MemberStore {
  // An engine that stores entries with changes makes one write.
  if (members.storesAuditEntries) return members
  return {
    storesAuditEntries: false,
    add: (...given) => deadlines.within(members.add(...given)),
    remove: (...given) => deadlines.within(members.remove(...given)),
    get: (listId, customerId) => members.get(listId, customerId),
    page: (listId, after, limit) => members.page(listId, after, limit),
    listsOf: (customerId, after, limit) => members.listsOf(customerId, after, limit),
  }
}

const memberOf = (id: string, customerId: string): AuditTarget => ({ kind: 'allowlist', id, customerId })

/** The given attributes of the member, if any. */
function given(attributes: MemberAttributes): object | undefined {
  const { expiresAt } = attributes
  if (expiresAt !== undefined) return { ...attributes, expiresAt: isoTime(expiresAt) }
  return Object.keys(attributes).length === 0 ? undefined : attributes
}
