import { PREFIX } from '../keys.js'

/**
 * Names of all keys of locks in Redis (see ../README.md). No identifier contains a brace, so no lock name can forge
 * another key.
 */

/** The owner, with the time to live of the lock, as other programs set it with SET NX PX. */
export const lockKey = (name: string): string => `${PREFIX.locks}:${name}`
/** The last fence of the lock. */
export const fenceKey = (lock: string): string => `{${lock}}:fence`
/** Exists while a caller waits for the lock. */
export const waitingKey = (lock: string): string => `{${lock}}:waiting`

/** Channels are shared by all databases, so the name contains the database. */
export const freedChannel = (database: number): string => `${PREFIX.locks}:freed:${database}`
