import { type FleetRecord, type FleetStore, MAX_PROCESSES } from '../../../guards/fleet/port.js'
import { number, numberOf, text, textOf } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { whole } from '../client/key-ranges.js'
import { keyOf, PARTITION } from '../keys.js'

const VERB = 'fleet'
const TTL_MARGIN_MS = 300_000

/** One item for each process. Writes cost money, so processes announce themselves less often than elsewhere. */
export class DynamodbFleet implements FleetStore {
  readonly announceMs = 10_000
  readonly expireMs = 25_000

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    /** Converts the caller's time to the server's: those of the processes may differ by more than a record lasts. */
    private readonly time: (at: number) => number,
  ) {}

  async announce(id: string, record: string, expireMs: number, now: number): Promise<void> {
    const at = this.time(now)
    const ttl = number(Math.ceil((at + expireMs + TTL_MARGIN_MS) / 1000))
    const Item = {
      ...keyOf(PARTITION.fleet, id),
      ...{ record: text(record), at: number(at), endsAt: number(at + expireMs), ttl },
    }
    await this.client.putItem(VERB, { TableName: this.table, Item })
  }

  async leave(id: string): Promise<void> {
    await this.client.deleteItem(VERB, { TableName: this.table, Key: keyOf(PARTITION.fleet, id) })
  }

  async list(now: number): Promise<FleetRecord[]> {
    const at = this.time(now)
    const found: FleetRecord[] = []
    const pages = this.client.queryPages(VERB, {
      ...{ TableName: this.table, ...whole(PARTITION.fleet), ConsistentRead: false },
    })
    for await (const items of pages) {
      for (const item of items) {
        if (numberOf(item, 'endsAt') <= at) continue
        found.push({
          id: textOf(item, 'SK'),
          text: textOf(item, 'record'),
          ageMs: at - numberOf(item, 'at'),
        })
      }
      if (found.length >= MAX_PROCESSES) break
    }
    return found.slice(0, MAX_PROCESSES)
  }
}
