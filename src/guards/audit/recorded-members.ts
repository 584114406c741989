import { isoTime } from '../../core/clock.js'
import type { MemberAttributes, MemberStore, TimedMembers } from '../allowlist/port.js'
import type { AuditedAction, AuditTrail, Outcomes } from './index.js'
import type { PreparedEntry } from './port.js'
import { readFirst, recording } from './recording.js'
import type { AuditTarget } from './types.js'

const ADDING: Outcomes = { added: { added: true }, replaced: { added: false } }
/** A removal that changed nothing is not recorded. */
const REMOVING: Outcomes = { removed: 'plain' }

/**
 * A member store that records every change. It wraps the store and not the guard, because the engine may store the
 * entry in the same transaction: then a change and its entry are always stored together, and a change waits for
 * one write. `isTogether`: the trail is in the same store as the members.
 */
export function recordedMembers(members: MemberStore, trail: AuditTrail, isTogether: boolean): TimedMembers {
  const keepsNotes = members.storesAuditEntries && isTogether
  const recorded = <T extends { outcome: string }>(
    audited: AuditedAction,
    outcomes: Outcomes,
    since: number,
    change: (note: PreparedEntry | undefined) => Promise<T>,
  ): Promise<T> => {
    const note = keepsNotes ? trail.prepareEntry(audited, outcomes) : undefined
    return recording(trail, () => change(note), {
      since,
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
    ...readsOf(members, trail),
    add(listId, customerId, attributes, now, since) {
      const after = given(attributes)
      const audited: AuditedAction = {
        action: 'allowlist.member.add',
        target: memberOf(listId, customerId),
        after,
      }
      return recorded(audited, ADDING, since, (note) =>
        members.add(listId, customerId, attributes, now, note),
      )
    },
    remove(listId, customerId, now, since) {
      const audited: AuditedAction = {
        action: 'allowlist.member.remove',
        target: memberOf(listId, customerId),
      }
      return recorded(audited, REMOVING, since, (note) => members.remove(listId, customerId, now, note))
    },
  }
}

/**
 * A member store that records nothing. Each change has the timeout of one write, however many writes the engine makes.
 */
export function boundedMembers(members: MemberStore, trail: AuditTrail): TimedMembers {
  const within = isOneWrite(members)
    ? <T>(change: Promise<T>) => change
    : <T>(change: Promise<T>, since: number) => trail.deadlines.within(change, since)
  return {
    ...readsOf(members, trail),
    add: (listId, customerId, attributes, now, since) =>
      within(members.add(listId, customerId, attributes, now), since),
    remove: (listId, customerId, now, since) => within(members.remove(listId, customerId, now), since),
  }
}

/** An engine that stores entries with changes makes one write, whose timeout it enforces, and reads without waiting. */
const isOneWrite = (members: MemberStore): boolean => members.storesAuditEntries

function readsOf(
  members: MemberStore,
  { deadlines }: AuditTrail,
): Pick<TimedMembers, 'readFirst' | 'get' | 'page' | 'listsOf'> {
  return {
    readFirst: isOneWrite(members) ? (read) => read : (read, since) => readFirst(read, deadlines, since),
    get: (listId, customerId) => members.get(listId, customerId),
    page: (...args) => members.page(...args),
    listsOf: (customerId, after, limit) => members.listsOf(customerId, after, limit),
  }
}

const memberOf = (id: string, customerId: string): AuditTarget => ({ kind: 'allowlist', id, customerId })

function given(attributes: MemberAttributes): object | undefined {
  const { expiresAt } = attributes
  if (expiresAt !== undefined) return { ...attributes, expiresAt: isoTime(expiresAt) }
  return Object.keys(attributes).length === 0 ? undefined : attributes
}
