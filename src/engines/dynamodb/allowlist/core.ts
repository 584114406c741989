import type { KeyStore } from '../../../guards/access/port.js'
import type { AllowlistEngine } from '../../../guards/allowlist/port.js'
import { DynamodbKeys } from '../access/store.js'
import { BUILD } from './build-claims.js'
import { DynamodbChecks } from './checks.js'
import { DeletedLists } from './deleted-lists.js'
import { EXPIRE, EXPIRE_ALL } from './due.js'
import { ExpirySweeps } from './expiry.js'
import { DynamodbIndexStore } from './index-store.js'
import { DELETE, DynamodbLists } from './lists.js'
import { MemberWrites } from './member-writes.js'
import { DynamodbMembers } from './members.js'
import type { Store } from './store.js'
import type { TaskHandlers } from './upkeep.js'

/** The parts that need only the table: all but bulk work and the feed. */
export interface Core extends Pick<AllowlistEngine, 'lists' | 'members' | 'checks' | 'index'> {
  readonly keys: KeyStore
  readonly tasks: TaskHandlers
  readonly writes: MemberWrites
}

export function openCore(store: Store): Core {
  const index = new DynamodbIndexStore(store)
  const deleted = new DeletedLists(store)
  const writes = new MemberWrites(store)
  const expiry = new ExpirySweeps(store, writes)
  return {
    lists: new DynamodbLists(store),
    members: new DynamodbMembers(store, writes),
    writes,
    checks: new DynamodbChecks(store),
    index,
    keys: new DynamodbKeys(store),
    tasks: {
      [DELETE]: (task) => deleted.step(task),
      [EXPIRE]: (task, now) => expiry.one(task, now),
      [EXPIRE_ALL]: (task, now) => expiry.all(task, now),
      [BUILD]: (task, now) => index.endDead(task, now),
    },
  }
}
