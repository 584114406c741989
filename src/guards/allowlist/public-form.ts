import { isoTime } from '../../core/clock.js'
import { makeCursor } from '../../core/paging.js'
import { resumedConfig, type StoredConfig } from './pause.js'
import type { ImportRecord, ListRecord, MemberRecord } from './port.js'
import type { Allowlist, ImportStatus, Member, Page } from './types.js'
import { waveNow } from './wave/now.js'

/** What callers see of stored records. */

export function publicList(record: ListRecord, now: number): Allowlist {
  const { incarnation: _, salt: __, config, createdAt, updatedAt, ...list } = record
  return {
    ...list,
    ...(config && { ...publicRule(config), wave: waveNow(config, now) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

function publicRule(stored: StoredConfig): Pick<Allowlist, 'config' | 'paused'> {
  const { paused, ...config } = stored
  if (paused === undefined) return { config: stored }
  return { config, paused: { at: isoTime(paused.at), config: resumedConfig(stored)! } }
}

export function publicMember({ addedAt, expiresAt, ...rest }: MemberRecord): Member {
  const member: Member = { ...rest, addedAt: new Date(addedAt).toISOString() }
  return expiresAt === undefined ? member : { ...member, expiresAt: new Date(expiresAt).toISOString() }
}

export function publicImport(record: ImportRecord): ImportStatus {
  const { listId, startedAt, updatedAt, inputDigest: _, run: __, ...rest } = record
  return { ...rest, allowlistId: listId, startedAt: isoTime(startedAt), updatedAt: isoTime(updatedAt) }
}

export function paged<T>(items: T[], lastId: string | undefined): Page<T> {
  return lastId === undefined ? { items } : { items, nextCursor: makeCursor(lastId) }
}
