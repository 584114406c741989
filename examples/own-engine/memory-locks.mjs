// @ts-check
// The smallest engine: it offers locks, in the memory of one process. Nothing here is private to Catraca.

/** How long the last fence of a name is kept after its use, as the port asks. */
const FENCE_KEPT_MS = 24 * 3_600_000

/**
 * What is stored, by name. A lock that was given back has no owner.
 * @typedef {{ owner?: string, fence: number, expiresAt: number }} Row
 */

/**
 * Each verb decides and changes without an `await` in between, so that no other caller acts between the two. An
 * engine on a server does the same in a script, a transaction or a conditional write.
 * @implements {LockStore}
 * @typedef {import('catraca').LockStore} LockStore
 */
class MemoryLocks {
  /** @param {Map<string, Row>} rows */
  constructor(rows) {
    this.rows = rows
    /** Nobody is told when a lock becomes free, so waiters poll. */
    this.pollMs = 25
  }

  /** @type {LockStore['acquire']} */
  async acquire({ name, owner, ttlMs }, now) {
    const row = this.rows.get(name)
    const isHeld = heldAt(row, now)
    if (isHeld && row.owner !== owner) return { outcome: 'held', retryAfterMs: row.expiresAt - now }
    const fence = isHeld ? row.fence : Math.max((row?.fence ?? 0) + 1, Math.floor(now * 1000))
    this.rows.set(name, { owner, fence, expiresAt: now + ttlMs })
    return { outcome: 'acquired', fence }
  }

  /** @type {LockStore['extend']} */
  async extend(name, owner, ttlMs, now) {
    const row = this.rows.get(name)
    if (!heldAt(row, now) || row.owner !== owner) return 'lost'
    row.expiresAt = now + ttlMs
    return 'done'
  }

  /** @type {LockStore['release']} */
  async release(name, owner, now) {
    const row = this.rows.get(name)
    if (!heldAt(row, now) || row.owner !== owner) return 'lost'
    this.rows.set(name, { fence: row.fence, expiresAt: now })
    return 'done'
  }

  /** @type {LockStore['read']} */
  async read(name, now) {
    const row = this.rows.get(name)
    if (row === undefined) return undefined
    const isHeld = heldAt(row, now)
    return { isHeld, fence: row.fence, expiresAt: isHeld ? row.expiresAt : undefined }
  }

  /** @type {LockStore['list']} */
  async list({ prefix, after = '', limit }, now) {
    const items = [...this.rows]
      .filter(([name, row]) => name.startsWith(prefix) && name > after && heldAt(row, now))
      .map(([name, { fence, expiresAt }]) => ({ name, fence, expiresAt }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit)
    return items.length < limit ? { items } : { items, next: items.at(-1)?.name }
  }

  /** @type {LockStore['remove']} */
  async remove(name, now) {
    const row = this.rows.get(name)
    if (!heldAt(row, now)) return false
    this.rows.set(name, { fence: row.fence, expiresAt: now })
    return true
  }

  /** @type {LockStore['watch']} */
  watch() {
    return () => {}
  }

  /** @type {LockStore['sweep']} */
  async sweep(now) {
    for (const [name, { expiresAt }] of this.rows) {
      if (expiresAt + FENCE_KEPT_MS < now) this.rows.delete(name)
    }
    return { more: false }
  }
}

/**
 * @param {Row | undefined} row
 * @param {number} now
 * @returns {row is Row & { owner: string }}
 */
function heldAt(row, now) {
  return row?.owner !== undefined && row.expiresAt > now
}

/**
 * Engines that are given the same rows work on one store, like two processes on one server.
 * @param {Map<string, Row>} rows
 */
export function openMemoryLocks(rows = new Map()) {
  /** @satisfies {import('catraca').Engine} */
  const engine = {
    name: 'memory-locks',
    locks: new MemoryLocks(rows),
    health: () => ({ names: rows.size }),
    async close() {
      rows.clear()
    },
  }
  return engine
}
