import type { KeyStore } from '../../guards/access/port.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { DynamodbKeys } from './access/store.js'
import { BUILD } from './allowlist/build-claims.js'
import { DynamodbChecks } from './allowlist/checks.js'
import { DeletedLists } from './allowlist/deleted-lists.js'
import { EXPIRE, EXPIRE_ALL } from './allowlist/due.js'
import { ExpirySweeps } from './allowlist/expiry.js'
import { DynamodbIndexStore } from './allowlist/index-store.js'
import { DELETE, DynamodbLists } from './allowlist/lists.js'
import { MemberWrites } from './allowlist/member-writes.js'
import { DynamodbMembers } from './allowlist/members.js'
import type { Store } from './allowlist/store.js'
import type { TaskHandlers } from './allowlist/upkeep.js'

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
