import type { MaybePromise } from '../../../core/maybe-promise.js'
import type { Position } from '../../../guards/allowlist/changes/port.js'
import type {
  CheckedList,
  CheckStore,
  CheckView,
  Freshness,
  MemberState,
  WriteToken,
} from '../../../guards/allowlist/port.js'
import { readState } from './attributes.js'
import type { Catalog } from './catalog.js'
import type { Found, Lookups } from './lookups.js'
import type { RedisList } from './meta.js'
import type { ReplicaLookups } from './replica-lookups.js'
import type { Tokens } from './tokens.js'

type FindList = (listId: string) => MaybePromise<RedisList | undefined>

/**
 * Members are read from the primary, or from a replica that has reached the required position. Views differ only in how
 * old the cached list may be.
 */
export class RedisChecks implements CheckStore {
  private readonly present: CheckView
  private readonly strong: CheckView

  constructor(
    private readonly catalog: Catalog,
    private readonly lookups: Lookups,
    private readonly tokens: Tokens,
    /** Undefined: only the primary is asked. */
    private readonly replicas: ReplicaLookups | undefined,
  ) {
    this.present = this.viewOf((listId) => catalog.checked(listId))
    this.strong = this.viewOf((listId) => catalog.read(listId))
  }

  view(freshness: Freshness): CheckView {
    if (freshness === undefined) return this.present
    if (freshness === 'strong') return this.strong
    const { incarnation } = this.tokens.read(freshness.atLeast)
    // The cached list may be older than the list of the token.
    return this.catalog.known(incarnation) === undefined ? this.strong : this.present
  }

  readToken(token: string): WriteToken {
    return this.tokens.read(token)
  }

  tokenAt(list: CheckedList, position: Position): string | undefined {
    // During a move to other shards, image and list may differ.
    if (list.shardCount !== position.length) return undefined
    const sequences = position.map(({ sequence }) => sequence)
    return this.tokens.ofAll(list as RedisList, sequences)
  }

  private viewOf(list: FindList): CheckView {
    return {
      list,
      member: (found, customerId, atLeast) => this.member(found as RedisList, customerId, atLeast),
    }
  }

  private member(
    list: RedisList,
    customerId: string,
    atLeast: Position | undefined,
  ): Promise<MemberState | undefined> {
    const { replicas } = this
    if (replicas === undefined || atLeast === undefined) return this.byPrimary(list, customerId)
    return replicas
      .find(list, customerId, atLeast)
      .then((copy) => (copy === undefined ? this.byPrimary(list, customerId) : stateOf(copy.found)))
  }

  private byPrimary(list: RedisList, customerId: string): Promise<MemberState | undefined> {
    return this.lookups.find(list, customerId).then(stateOf)
  }
}

const stateOf = (found: Found): MemberState | undefined => found && readState(found.attributes)
