import type { MemberAttributes, MemberStore } from '../allowlist/port.js'
import { isoTime } from '../clock.js'
import type { Note } from './port.js'
import { recording } from './recording.js'
import type { AuditTrail, Deed } from './trail.js'
import type { AuditTarget } from './types.js'

/** Of each outcome, what was done; nothing is told of those that changed nothing. */
type Deeds = Readonly<Partial<Record<string, Deed>>>

/**
 * Members whose every change is recorded. Here and not at the guard, because the engine may keep the entry with the
 * change: then neither is ever without the other, and a change waits for one write. `isTogether`: the trail is kept in
 * the store of the members.
 */
export function recordedMembers(members: MemberStore, trail: AuditTrail, isTogether: boolean): MemberStore {
  const keepsNotes = members.keepsNotes && isTogether
  const recorded = <T extends { outcome: string }>(
    change: (note: Note | undefined) => Promise<T>,
    asked: Deed,
    deeds: Deeds,
  ): Promise<T> => {
    const note = keepsNotes ? trail.note(deeds) : undefined
    return recording(trail, () => change(note), {
      asked: () => asked,
      done({ outcome }) {
        const deed = deeds[outcome]
        if (deed === undefined) return []
        if (note === undefined) return [deed]
        trail.kept(deed)
        return []
      },
    })
  }
  return {
    keepsNotes: false,
    add(listId, customerId, attributes, now) {
      const deed: Deed = {
        action: 'allowlist.member.add',
        target: memberOf(listId, customerId),
        ...given(attributes),
      }
      const change = (note?: Note) => members.add(listId, customerId, attributes, now, note)
      return recorded(change, deed, {
        added: { ...deed, detail: { added: true } },
        replaced: { ...deed, detail: { added: false } },
      })
    },
    remove(listId, customerId, now) {
      const deed: Deed = { action: 'allowlist.member.remove', target: memberOf(listId, customerId) }
      const change = (note?: Note) => members.remove(listId, customerId, now, note)
      return recorded(change, deed, { removed: deed })
    },
    get: (listId, customerId) => members.get(listId, customerId),
    page: (listId, after, limit) => members.page(listId, after, limit),
    listsOf: (customerId, after, limit) => members.listsOf(customerId, after, limit),
  }
}

const memberOf = (id: string, customerId: string): AuditTarget => ({ kind: 'allowlist', id, customerId })

/** What was said of the member, if anything. */
function given({ expiresAt, ...rest }: MemberAttributes): { after?: object } {
  const after = { ...rest, ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }) }
  return Object.keys(after).length === 0 ? {} : { after }
}
