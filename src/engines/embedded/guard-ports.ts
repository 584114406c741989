import type { FullEngine } from '../engine.js'
import { lookingFirst } from './lmdb/look-first.js'
import type { Writer } from './lmdb/writer.js'
import type { Stores } from './stores.js'

type Ports = Pick<
  FullEngine,
  'allowlists' | 'keys' | 'sessions' | 'idempotency' | 'codes' | 'tokens' | 'audit' | 'locks'
> & { limits: Omit<FullEngine['limits'], 'counters'> }

/** The ports of the guards over the stores of this thread. `forward` says where the verbs run that it gets. */
export function guardPorts(stores: Stores, forward: Writer['forward']): Ports {
  return {
    allowlists: {
      lists: forward('lists', stores.lists, ['create', 'update', 'delete', 'changeAll']),
      members: forward('members', stores.members, ['add', 'remove']),
      checks: stores.checks,
      bulk: stores.bulk,
      changes: stores.changes,
      index: forward('index', stores.index, ['claim', 'renew', 'publish', 'abandon', 'putPage', 'countUses']),
      upkeep: lookingFirst(forward('upkeep', stores.upkeep, ['sweep'])),
    },
    keys: forward('keys', stores.keys, ['add', 'remove', 'unlock']),
    sessions: lookingFirst(forward('sessions', stores.sessions, ['swap', 'sweep'])),
    limits: {
      configs: forward('limitConfigs', stores.limitConfigs, [
        'write',
        'remove',
        'writeEntity',
        'removeEntity',
        'changeAll',
        'migrate',
        'secret',
      ]),
      usage: forward('usage', stores.usage, ['count', 'drop']),
    },
    idempotency: forward('idempotency', stores.idempotency, [
      'take',
      'complete',
      'fail',
      'release',
      'extend',
      'remove',
      'deleteExpired',
    ]),
    codes: lookingFirst(forward('codes', stores.codes, ['put', 'attempt', 'revoke', 'sweep'])),
    tokens: lookingFirst(forward('tokens', stores.tokens, ['revoke', 'sweep'])),
    audit: lookingFirst(forward('audit', stores.audit, ['append', 'sweep'])),
    locks: lookingFirst(forward('locks', stores.locks, ['acquire', 'extend', 'release', 'remove', 'sweep'])),
  }
}
