import { randomUUID } from 'node:crypto'
import { every } from '../../../core/timers.js'
import type { ReshardOptions, ReshardProgress } from '../../../guards/allowlist/port.js'
import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import { again } from './bulk-shards.js'
import { listKeys, type ShardKeys } from './keys.js'
import type { RedisList } from './meta.js'
import type { ReplaceCleanup } from './replace-cleanup.js'
import { MoveStopped, ShardCopy } from './reshard-copy.js'
import { moveImports } from './reshard-imports.js'
import { allKeys, dropShards, endMove, freeze, shardsNamed, switchTo, thawAll } from './reshard-shards.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES } from './shard-script.js'

const CLAIM = defineScript('allowlist-reshard-claim', { keys: 1, write: true, uses: ['clock'] })
const PREPARE = defineScript('allowlist-reshard-prepare', {
  keys: [...SHARD_KEY_TYPES, 'hash', 'set'],
  write: true,
  uses: SHARD_USES,
})

const DEFAULT_LEASE_MS = 10_000
/** Shorter while changes are blocked: a dead mover must be detected soon. */
const FROZEN_LEASE_MS = 2000
/** A copy is made again if the log was trimmed or the member counts differ. */
const ATTEMPTS = 5
/** With so few entries left, the freeze takes only some milliseconds. */
const FEW_ENTRIES = 20
const MOST_PASSES = 50
const COPIED_AT_ONCE = 4

export type Refusal = 'gone' | 'moving' | 'dead' | 'dropping' | 'replacing' | 'same' | 'changed'

/** One attempt of one owner to move a list to another number of shards without interrupting checks. */
export class Move {
  readonly owner = randomUUID()
  private readonly from: ShardKeys[]
  private readonly to: ShardKeys[]
  generation = 0
  private progress: ReshardProgress = { phase: 'copying', copied: 0, total: 0 }
  private lost = false
  private readonly leaseMs: number

  constructor(
    private readonly context: BulkContext,
    private readonly replaces: ReplaceCleanup,
    private readonly list: RedisList,
    readonly shards: number,
    private readonly options: ReshardOptions,
  ) {
    this.leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS
    this.from = shardsNamed(list.id, list.shardCount)
    this.to = shardsNamed(list.id, shards)
  }

  /** Why it cannot begin, or undefined: then `run` must be called. */
  async claim(): Promise<Refusal | undefined> {
    this.progress.total = await this.members(this.from)
    const [outcome, generation] = await this.hold('claim')
    if (outcome !== 'claimed') return outcome as Refusal
    this.generation = generation!
    return undefined
  }

  /**
   * Returns the number of moved members. Rejects with MoveStopped if another process ended the move or the list was
   * deleted.
   */
  async run(): Promise<number> {
    const timer = every(() => {
      this.hold('renew').then(
        ([outcome]) => {
          if (outcome !== 'claimed') this.lost = true
        },
        () => {},
      )
    }, Math.min(this.leaseMs, FROZEN_LEASE_MS) / 4)
    try {
      await this.replaces.clean(this.list.id, Date.now())
      for (let attempt = 1; ; attempt++) {
        if (await this.attempt(attempt === ATTEMPTS)) break
      }
    } catch (error) {
      await this.giveUp(error).catch(() => {})
      throw error
    } finally {
      clearInterval(timer)
    }
    this.context.catalog.forget(this.list.id)
    await thawAll(this.context, this.list.id)
    return this.progress.total
  }

  private async giveUp(error: unknown): Promise<void> {
    await endMove(this.context, this.list, this.owner, 'own')
    // Upkeep may have swept the deleted list before these shards were created, and will not come again.
    if (error instanceof MoveStopped && error.reason === 'gone')
      await dropShards(this.context, this.list, this.shards, this.generation + 1)
  }

  /** False: try again. */
  private async attempt(isLast: boolean): Promise<boolean> {
    try {
      await this.prepare()
      const copies = this.from.map(
        (from) => new ShardCopy(this.context, this.list, from, this.to, this.owner),
      )
      await this.copy(copies)
      await this.catchUp(copies)
      await this.tell('frozen')
      await this.freezeAll()
      for (const copy of copies) await copy.follow()
      const [before, after] = await Promise.all([this.members(this.from), this.members(this.to)])
      // They differ only if another program writes to the sets without the log.
      if (before !== after) throw new MoveStopped('gap')
      this.progress.total = after
      await this.switch(await moveImports(this.context, this.list.id, this.from, this.to))
      return true
    } catch (error) {
      if (!(error instanceof MoveStopped) || error.reason !== 'gap' || isLast) throw error
      await Promise.all(this.from.map((keys) => freeze(this.context, this.list, keys, this.owner, 'thaw')))
      return false
    }
  }

  private async prepare(): Promise<void> {
    const { id, incarnation, createdAt } = this.list
    const { wake, maxLogBytes } = this.context
    const who = [String(incarnation), this.owner, String(this.generation), String(createdAt)]
    const args = [...who, String(newMark()), String(maxLogBytes), wake.channel, id]
    const prepared = await Promise.all(
      this.to.map((keys) => again(() => this.context.redis.run(PREPARE, allKeys(keys), args))),
    )
    if (prepared.some((outcome) => outcome !== 'prepared')) throw new MoveStopped('lost')
  }

  private async copy(copies: ShardCopy[]): Promise<void> {
    await this.tell('copying')
    const waiting = [...copies]
    const report = () => {
      this.check()
      this.progress.copied = copies.reduce((sum, { copied }) => sum + copied, 0)
      this.options.onProgress?.({ ...this.progress })
    }
    const work = async () => {
      for (let copy = waiting.shift(); copy !== undefined; copy = waiting.shift()) await copy.copy(report)
    }
    await Promise.all(Array.from({ length: COPIED_AT_ONCE }, work))
  }

  private async catchUp(copies: ShardCopy[]): Promise<void> {
    await this.tell('following')
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      this.check()
      const entries = await Promise.all(copies.map((copy) => copy.follow()))
      if (pass > 0 && entries.every((count) => count <= FEW_ENTRIES)) return
    }
  }

  private async freezeAll(): Promise<void> {
    const outcomes = await Promise.all(
      this.from.map((keys) => freeze(this.context, this.list, keys, this.owner, 'freeze')),
    )
    if (outcomes.includes('gone')) throw new MoveStopped('gone')
    if (outcomes.includes('stale')) throw new MoveStopped('lost')
  }

  private async switch(imports: string[]): Promise<void> {
    const outcome = await switchTo(this.context, this.list, this, imports)
    if (outcome !== 'switched') throw new MoveStopped(outcome)
  }

  private hold(verb: 'claim' | 'renew'): Promise<[outcome: string, generation?: number]> {
    const { meta } = listKeys(this.list.id)
    const { phase, copied, total } = this.progress
    const leaseMs = phase === 'frozen' ? Math.min(this.leaseMs, FROZEN_LEASE_MS) : this.leaseMs
    const who = [String(this.list.incarnation), this.owner, String(this.shards), String(leaseMs)]
    const args = [...who, phase, String(copied), String(total), verb, String(this.list.generation)]
    return again(() => this.context.redis.run(CLAIM, [meta], args)) as Promise<[string, number?]>
  }

  /** Stores a new phase in the metadata and renews the lease. */
  private async tell(phase: ReshardProgress['phase']): Promise<void> {
    this.check()
    this.progress = { ...this.progress, phase }
    const [outcome] = await this.hold('renew')
    if (outcome !== 'claimed') throw new MoveStopped(outcome === 'gone' ? 'gone' : 'lost')
    this.options.onProgress?.({ ...this.progress })
  }

  private check(): void {
    this.options.signal?.throwIfAborted()
    if (this.lost) throw new MoveStopped('lost')
  }

  private async members(shards: readonly ShardKeys[]): Promise<number> {
    const { redis } = this.context
    const counts = await Promise.all(
      shards.map(({ members }) => again(() => redis.read(members, ['SCARD', members]) as Promise<number>)),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
}
