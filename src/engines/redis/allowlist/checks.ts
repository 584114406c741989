import type { MaybePromise } from '../../../core/maybe-promise.js'
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
import type { Lookups } from './lookups.js'
import type { RedisList } from './meta.js'
import type { Tokens } from './tokens.js'

type FindList = (listId: string) => MaybePromise<RedisList | undefined>

/** Members are always read from the primary. Views differ only in how old the cached list may be. */
export class RedisChecks implements CheckStore {
  private readonly present: CheckView
  private readonly strong: CheckView

  constructor(
    private readonly catalog: Catalog,
    private readonly lookups: Lookups,
    private readonly tokens: Tokens,
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

  private viewOf(list: FindList): CheckView {
    return { list, member: (found, customerId) => this.member(found, customerId) }
  }

  private member(list: CheckedList, customerId: string): Promise<MemberState | undefined> {
    return this.lookups
      .find(list as RedisList, customerId)
      .then((found) => found && readState(found.attributes))
  }
}
