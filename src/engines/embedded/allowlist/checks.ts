import type { Position } from '../../../guards/allowlist/changes/port.js'
import type {
  CheckedList,
  CheckStore,
  CheckView,
  Freshness,
  MemberState,
  WriteToken,
} from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { CustomerRef } from './keys.js'
import { addedAtOf, expiresAtOf, visibleBytes } from './member-row-codec.js'
import type { EmbeddedList } from './meta.js'

/**
 * Checks read one LMDB snapshot per turn of the event loop. A turn takes about a millisecond, so a check may miss
 * what another process committed during it. `strong` and `atLeast` begin a new snapshot.
 */
export class EmbeddedChecks implements CheckStore, CheckView {
  private readonly key = new CustomerRef()

  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  view(freshness: Freshness): CheckView {
    this.environment.assertOpen()
    if (freshness !== undefined) {
      if (freshness !== 'strong') this.catalog.readToken(freshness.atLeast)
      this.environment.refresh()
    }
    return this
  }

  readToken(token: string): WriteToken {
    return this.catalog.readToken(token)
  }

  tokenAt({ incarnation }: CheckedList, [log]: Position): string | undefined {
    return log && this.catalog.token(incarnation, log.sequence)
  }

  list(listId: string): CheckedList | undefined {
    return this.catalog.checked(listId)
  }

  member(list: CheckedList, customerId: string): MemberState | undefined {
    const { incarnation, generation } = list as EmbeddedList
    const bytes = this.environment.members.getBinaryFast(this.key.of(incarnation, customerId))
    if (bytes === undefined || !visibleBytes(bytes, generation)) return undefined
    const addedAt = addedAtOf(bytes)
    const expiresAt = expiresAtOf(bytes, generation)
    return expiresAt === undefined ? { addedAt } : { addedAt, expiresAt }
  }
}
