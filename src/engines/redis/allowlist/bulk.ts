import { latest } from '../../../guards/allowlist/import/stored-import.js'
import {
  type BatchOutcome,
  type BeginOutcome,
  type BulkStore,
  type ImportRecord,
  type ImportRequest,
  type ImportSession,
  MAX_LISTED_IMPORTS,
  type ReplaceOutcome,
} from '../../../guards/allowlist/port.js'
import { defineScript } from '../link/script.js'
import { BatchAdder } from './bulk-add.js'
import type { BulkContext } from './bulk-context.js'
import { again, neverReady, ROUNDS, repairShards } from './bulk-shards.js'
import { checkpointText, claimField, EMPTY_CHECKPOINT, importRecord, readClaim } from './imports.js'
import { listKeys } from './keys.js'
import type { RedisList } from './meta.js'
import { Replacement } from './replace.js'
import { ReplaceCleanup } from './replace-cleanup.js'
import { SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'
import type { Shard } from './shards.js'

/** An import has two or three fields. */
const SCAN_STEP = 300

const CLAIM_USES = ['allowlist-import-claim']
const BEGIN = defineScript('allowlist-import-begin', {
  keys: ['hash', 'hash'],
  write: true,
  uses: CLAIM_USES,
})
const FINISH = defineScript('allowlist-import-finish', {
  keys: ['hash', 'hash'],
  write: true,
  uses: CLAIM_USES,
})
const FENCE = defineScript('allowlist-import-fence', { keys: ['hash', 'hash'], write: true })
const OPEN = defineScript('allowlist-replace-open', {
  keys: [...SHARD_KEY_TYPES, 'hash', 'set'],
  write: true,
  uses: SHARD_USES,
})

type Begun = 'begun' | 'resumed' | 'completed'
type BeginReply =
  | [Begun, incarnation: string, claim: string, checkpoint: string, generation: string]
  | ['list-not-found' | 'import-running' | 'replace-running' | 'other-mode' | 'abandoned' | 'moving']

/** `fenced` and `open` are success; the others say what must be repaired first. */
type ShardOutcome = 'fenced' | 'open' | 'gone' | 'stale' | 'frozen' | 'leftover'

export class RedisBulk implements BulkStore {
  private readonly adder: BatchAdder
  readonly cleanup: ReplaceCleanup

  constructor(private readonly context: BulkContext) {
    this.adder = new BatchAdder(context)
    this.cleanup = new ReplaceCleanup(context)
  }

  async begin(request: ImportRequest, now: number): Promise<BeginOutcome> {
    const { listId, importId, mode, owner, leaseMs } = request
    const { meta, imports } = listKeys(listId)
    // If this process dies, upkeep must clean up what it leaves.
    if (mode === 'replace') await this.context.due.note(listId, now + leaseMs, now)
    const args = [importId, mode, owner, String(now), String(now + leaseMs), EMPTY_CHECKPOINT]
    for (let round = 0; round < ROUNDS; round++) {
      const reply = (await again(() => this.context.redis.run(BEGIN, [meta, imports], args))) as BeginReply
      const [outcome] = reply
      if (outcome === 'abandoned') {
        if (await this.cleanup.abandonDead(listId, now)) await this.cleanup.clean(listId, now)
      } else if (outcome === 'moving') {
        if (!(await this.thawed(listId))) return { outcome: 'replace-running' }
      } else if (reply.length === 1) {
        return { outcome: outcome as 'list-not-found' }
      } else {
        return this.begun(request, reply as Extract<BeginReply, [Begun, ...unknown[]]>, now)
      }
    }
    throw neverReady(listId)
  }

  /** Ends the move of the list if its mover is dead. Returns whether the list is not moving any more. */
  private async thawed(listId: string): Promise<boolean> {
    const { catalog, shards } = this.context
    const list = await catalog.read(listId)
    if (list !== undefined) await shards.mending?.thaw(list, 0)
    return (await catalog.readMeta(listId))?.moving === undefined
  }

  private async begun(
    request: ImportRequest,
    [outcome, incarnation, claim, checkpoint, generation]: Extract<BeginReply, [Begun, ...unknown[]]>,
    now: number,
  ): Promise<BeginOutcome> {
    const { listId, importId, owner, mode } = request
    const session: ImportSession = { ...request, incarnation: Number(incarnation) }
    if (outcome !== 'completed') {
      const { redis } = this.context
      const who = [importId, owner]
      const isOurs = await this.prepare(session, now, ({ list, keys }) =>
        mode === 'replace'
          ? redis.run(
              OPEN,
              [...shardScriptKeys(keys), keys.writers, keys.old],
              [...[incarnation, String(list.generation), generation], ...who],
            )
          : redis.run(FENCE, [keys.state, keys.writers], [incarnation, ...who]),
      )
      if (!isOurs) return { outcome: 'list-not-found' }
      // The previous owner may have stored rows until the last shard was fenced.
      const now2 = await this.read(listId, importId)
      if (now2 !== undefined) [claim, checkpoint] = now2
    }
    return { outcome, session, record: importRecord(listId, importId, claim, checkpoint, now) }
  }

  /** Prepares every shard for the session. False if the list was deleted. */
  private async prepare(
    session: ImportSession,
    now: number,
    attempt: (shard: Shard) => Promise<unknown>,
  ): Promise<boolean> {
    const { catalog, shards } = this.context
    for (let round = 0; round < ROUNDS; round++) {
      const list = await again(() => catalog.read(session.listId))
      if (list?.incarnation !== session.incarnation) return false
      const outcomes = await Promise.all(
        shards.all(list).map((shard) => again(() => attempt(shard)) as Promise<ShardOutcome>),
      )
      const refusal = outcomes.find((outcome) => outcome !== 'fenced' && outcome !== 'open')
      if (refusal === undefined) return true
      if (refusal === 'leftover') await this.cleanup.clean(session.listId, now)
      else await repairShards(this.context, list, refusal as 'gone', round)
    }
    throw neverReady(session.listId)
  }

  add(...batch: Parameters<BulkStore['add']>): Promise<BatchOutcome> {
    return this.adder.add(...batch)
  }

  async renew(...[session, checkpoint, now]: Parameters<BulkStore['renew']>): Promise<boolean> {
    return (await this.adder.checkpoint(session, checkpoint, now)) === 'stored'
  }

  replace(...[session, runs, advance, now]: Parameters<BulkStore['replace']>): Promise<ReplaceOutcome> {
    return new Replacement(this.context, session, advance, now).run(runs)
  }

  async finish(...[session, checkpoint, state, error, now]: Parameters<BulkStore['finish']>) {
    const { redis, catalog, due } = this.context
    const { listId, importId, owner, incarnation, mode } = session
    const { meta, imports } = listKeys(listId)
    const text = checkpointText(checkpoint, error)
    const args = [String(incarnation), importId, owner, String(now), state, text]
    const outcome = await again(() => redis.run(FINISH, [meta, imports], args))
    if (mode === 'replace') await due.note(listId, now, now)
    const list = await catalog.read(listId)
    if (outcome === 'list-not-found' || list?.incarnation !== incarnation) return undefined
    // Upkeep would do both as well.
    if (outcome === 'abandoned') await this.cleanup.clean(listId, now).catch(() => {})
    if (outcome !== 'lost' && state === 'completed') this.release(list, importId)
    return this.endOf(list)
  }

  private release(list: RedisList, importId: string): void {
    const { redis, shards } = this.context
    for (const { keys } of shards.all(list)) {
      redis.run(FENCE, [keys.state, keys.writers], [String(list.incarnation), importId, '']).catch(() => {})
    }
  }

  private async endOf(list: RedisList): Promise<{ customerCount: number; token: string }> {
    const { redis, shards, tokens } = this.context
    const figures = await Promise.all(
      shards
        .all(list)
        .map(({ keys }) =>
          Promise.all([
            redis.read(keys.members, ['SCARD', keys.members]),
            redis.read(keys.state, ['HGET', keys.state, 'sequence']),
          ]),
        ),
    )
    const customerCount = figures.reduce((sum, [count]) => sum + Number(count), 0)
    const sequences = figures.map(([, sequence]) => Number(sequence ?? 0))
    return { customerCount, token: tokens.ofAll(list, sequences) }
  }

  async status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined> {
    const [list, found] = await Promise.all([this.context.catalog.read(listId), this.read(listId, importId)])
    if (list === undefined || found === undefined) return undefined
    return importRecord(listId, importId, ...found, now)
  }

  async list(listId: string, limit: number, now: number): Promise<ImportRecord[]> {
    if ((await this.context.catalog.read(listId)) === undefined) return []
    const claims = await this.claims(listId)
    const found = await Promise.all(
      latest(claims, limit).map(
        async ({ importId }) => [importId, await this.read(listId, importId)] as const,
      ),
    )
    return found.flatMap(([importId, texts]) => (texts ? importRecord(listId, importId, ...texts, now) : []))
  }

  /** In no order: a hash has none. */
  private async claims(listId: string): Promise<{ importId: string; startedAt: number }[]> {
    const { imports } = listKeys(listId)
    const ending = claimField('')
    const claims: { importId: string; startedAt: number }[] = []
    let cursor = '0'
    do {
      const args = ['HSCAN', imports, cursor, 'MATCH', `*${ending}`, 'COUNT', String(SCAN_STEP)]
      const [next, fields] = (await this.context.redis.read(imports, args)) as [string, string[]]
      for (let i = 0; i + 1 < fields.length; i += 2) {
        const { startedAt } = readClaim(fields[i + 1]!)
        claims.push({ importId: fields[i]!.slice(0, -ending.length), startedAt })
      }
      cursor = next
    } while (cursor !== '0' && claims.length < MAX_LISTED_IMPORTS)
    return claims
  }

  private async read(
    listId: string,
    importId: string,
  ): Promise<[claim: string, checkpoint: string] | undefined> {
    const { imports } = listKeys(listId)
    const args = ['HMGET', imports, claimField(importId), importId]
    const [claim, checkpoint] = (await this.context.redis.read(imports, args)) as (string | null)[]
    return claim == null || checkpoint == null ? undefined : [claim, checkpoint]
  }
}
