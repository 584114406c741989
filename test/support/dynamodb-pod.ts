import { type OpenedStore, openStore } from '../../src/engines/dynamodb/allowlist/open-store.js'
import { type Core, openCore } from '../../src/engines/dynamodb/core.js'
import { ChangeLog } from '../../src/engines/dynamodb/feed/change-log.js'
import { Freshness } from '../../src/engines/dynamodb/feed/freshness.js'
import { PodQueue, type PodQueueOptions } from '../../src/engines/dynamodb/feed/pod-queue.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { isReset, readEntry } from '../../src/guards/allowlist/changes/entry.js'
import { type Followed, Follower } from '../../src/guards/allowlist/changes/follower.js'
import type { ListRef, LogEntry, LogPosition } from '../../src/guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../src/guards/allowlist/customer-key.js'
import { CREDENTIALS, PATIENCE } from './dynamodb-server.js'

/** The members of one list, read once and then followed. */
class Replica implements Followed {
  readonly members = new Set<string>()
  position: LogPosition[] = []
  freshAtMs = Number.NEGATIVE_INFINITY
  behind = false
  isLost = false
  changes = 0

  constructor(readonly list: ListRef) {}

  apply({ bytes }: LogEntry): void {
    this.changes++
    if (isReset(bytes)) {
      this.lost()
      return
    }
    readEntry(bytes, {
      added: (key, start, end) => void this.members.add(readCustomerKey(key, start, end)),
      removed: (key, start, end) => void this.members.delete(readCustomerKey(key, start, end)),
    })
  }

  lost(): void {
    this.isLost = true
  }
}

interface PodOptions {
  url: DynamodbUrl
  list: ListRef
  compareIntervalMs: number
  queue?: PodQueueOptions
  report?: (message: string, error: unknown) => void
}

/** A process that holds a list in memory and keeps it fresh, without the membership index. */
export class Pod {
  loads = 0
  private replica: Replica
  private readonly follower: Follower
  private loading: Promise<void> | undefined

  private constructor(
    private readonly store: OpenedStore,
    private readonly core: Core,
    private readonly log: ChangeLog,
    readonly queue: PodQueue | undefined,
    private readonly list: ListRef,
    compareIntervalMs: number,
  ) {
    this.replica = new Replica(list)
    this.follower = new Follower(log, compareIntervalMs, () => {})
  }

  static async start({ url, list, compareIntervalMs, queue }: PodOptions): Promise<Pod> {
    const store = await openStore(url, { ...PATIENCE, credentials: CREDENTIALS })
    const { client, tables, applied } = store
    const wakes = queue && (await PodQueue.open(queue))
    const freshness = new Freshness({ client, tables, now: Date.now, probeIntervalMs: 200 })
    const log = new ChangeLog({
      client,
      table: tables.allowlists,
      freshness,
      applied,
      ...(wakes !== undefined && { wakes }),
    })
    const pod = new Pod(store, openCore(store), log, wakes, list, compareIntervalMs)
    await pod.load()
    return pod
  }

  /** What it holds, when it may answer from it. */
  members(): Set<string> {
    if (this.replica.isLost) this.loading ??= this.load().finally(() => (this.loading = undefined))
    return this.replica.members
  }

  get changes(): number {
    return this.replica.changes
  }

  /** How old its knowledge is, in milliseconds. */
  get ageMs(): number {
    return performance.now() - this.replica.freshAtMs
  }

  /** First the position, then the members: whatever changes meanwhile is behind the position. */
  private async load(): Promise<void> {
    this.loads++
    this.follower.remove(this.replica)
    const replica = new Replica(this.list)
    replica.position = [...(await this.log.position(this.list))!]
    let after: string | undefined
    do {
      const page = await this.core.members.page(this.list.id, after, 1000)
      for (const { customerId } of page?.members ?? []) replica.members.add(customerId)
      after = page?.next
    } while (after !== undefined)
    this.replica = replica
    this.follower.add(replica)
    await this.follower.catchUp(replica)
  }

  catchUp(): void {
    this.follower.catchUpAll()
  }

  async stop(): Promise<void> {
    this.follower.close()
    await this.loading
    await this.queue?.close()
    this.store.close()
  }
}
