/**
 * Names of everything that locks keep in Redis (see ../README.md). No identifier holds a brace, so no name of a lock can
 * forge the key of something else.
 */

/** The owner, with the time to live of the lock: what other programs set with SET NX PX. */
export const lockKey = (name: string): string => `lock:${name}`
/** The last fence of the name. */
export const fenceKey = (lock: string): string => `{${lock}}:fence`
/** There while somebody waits for the lock. */
export const waitingKey = (lock: string): string => `{${lock}}:waiting`

/** Channels do not know databases, so the name must. */
export const freedChannel = (database: number): string => `lock:freed:${database}`
