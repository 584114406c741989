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
import type { ItemReader } from '../client/client.js'
import { keyOf } from '../keys.js'
import { customerSort, placeOf } from './items.js'
import type { KnownList } from './meta.js'
import { stateOf, WINDOW_ATTRIBUTES } from './rows.js'
import type { Store } from './store.js'
import type { DynamodbToken } from './tokens.js'

const VERB = 'allowlist.check'
const PROJECTION = {
  ProjectionExpression: WINDOW_ATTRIBUTES.map((_, i) => `#${i}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(WINDOW_ATTRIBUTES.map((name, i) => [`#${i}`, name])),
}

/**
 * Ordinary checks use eventually consistent reads, for half a unit. `strong` and `atLeast` read consistently, and
 * never through DAX.
 */
export class DynamodbChecks implements CheckStore {
  private readonly present: CheckView
  private readonly strong: CheckView

  constructor(private readonly store: Store) {
    const { catalog } = store
    this.present = { list: (id) => catalog.known(id), member: (list, id) => this.ordinary(list, id) }
    this.strong = { list: (id) => catalog.knownNow(id), member: (list, id) => this.consistent(list, id) }
  }

  view(freshness: Freshness): CheckView {
    if (freshness === undefined) return this.present
    if (freshness === 'strong') return this.strong
    return this.since(this.store.tokens.read(freshness.atLeast))
  }

  readToken(token: string): WriteToken {
    return this.store.tokens.read(token)
  }

  tokenAt(list: CheckedList, position: Position): string | undefined {
    return this.store.tokens.at(list as KnownList, position)
  }

  private since(token: DynamodbToken): CheckView {
    return {
      list: (id) => this.store.catalog.knownSince(id, token),
      member: (list, id) => this.consistent(list, id),
    }
  }

  private async ordinary(list: CheckedList, customerId: string): Promise<MemberState | undefined> {
    const { reader, client } = this.store
    const state = await this.read(reader, list, customerId, false)
    // DAX may have cached, long before, that the customer is not a member.
    return state === undefined && reader !== client ? this.consistent(list, customerId) : state
  }

  private consistent(list: CheckedList, customerId: string): MaybePromise<MemberState | undefined> {
    return this.read(this.store.client, list, customerId, true)
  }

  private async read(
    reader: ItemReader,
    list: CheckedList,
    customerId: string,
    consistent: boolean,
  ): Promise<MemberState | undefined> {
    const known = list as KnownList
    const { table, partition } = placeOf(known.id, known, customerId)
    const item = await reader.getItem(VERB, {
      TableName: this.store.tables[table],
      Key: keyOf(partition, customerSort(customerId)),
      ConsistentRead: consistent,
      ...PROJECTION,
    })
    return stateOf(item, known)
  }
}
