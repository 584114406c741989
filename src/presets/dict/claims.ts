import { invalid } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { Caches } from '../../guards/cache/index.js'
import type { CacheSpace } from '../../guards/cache/space.js'
import type { Load } from '../../guards/cache/types.js'
import { DICT_TTL_MS, type DictOptions, dictSpace } from './spaces.js'
import { CLAIM_STATUSES, type ClaimStatus, type DictClaim, type Write } from './types.js'
import type { DictWorkflows } from './workflows.js'

/** A list of claims is never gzipped: on Redis it is a set, to which other programs add. */
const MOST_BYTES = 1024 * 1024 * 1024
const ENDED: readonly ClaimStatus[] = ['CANCELLED', 'COMPLETED', 'EXPIRED']

/**
 * Claims under `dict:claim:id:{id}`, their status alone under `dict:claim:status:{id}`, and the claim ids of an
 * entry under `dict:claim:index:entry:{entry_id}`.
 */
export class DictClaims<C extends DictClaim> {
  private readonly claims: CacheSpace<C>
  private readonly statuses: CacheSpace<ClaimStatus>
  private readonly ofEntries: CacheSpace<string[]>

  constructor(
    cache: Caches,
    private readonly workflows: DictWorkflows<object>,
    options: DictOptions,
  ) {
    this.claims = dictSpace(cache, 'dict:claim:id', DICT_TTL_MS.claim, options)
    this.statuses = dictSpace(cache, 'dict:claim:status', DICT_TTL_MS.claimStatus, {
      ...options,
      words: CLAIM_STATUSES,
    })
    this.ofEntries = dictSpace(cache, 'dict:claim:index:entry', DICT_TTL_MS.claimIndex, {
      ...options,
      gzipAboveBytes: MOST_BYTES,
    })
  }

  async byId(id: string, load: Load<C>): Promise<C | undefined> {
    return this.claims.getOrLoad(identifier('id', id), load)
  }

  async status(id: string, load: Load<ClaimStatus>): Promise<ClaimStatus | undefined> {
    return this.statuses.getOrLoad(identifier('id', id), load)
  }

  /**
   * The ids of all claims of an entry, without duplicates. Always loaded as a whole: a set that is only added to
   * would be incomplete.
   */
  async ofEntry(entryId: string, load: Load<readonly string[]>): Promise<ReadonlySet<string>> {
    const loadAll: Load<string[]> = async (key, context) => [...new Set((await load(key, context)) ?? [])]
    return new Set(await this.ofEntries.getOrLoad(identifier('entry_id', entryId), loadAll))
  }

  /**
   * Write-through of claim and status. A claim that has ended is removed instead. The
   * claims of its entry are loaded again.
   */
  async save(claim: C, write: Write): Promise<void> {
    const { id, entryId } = checked(claim)
    if (ENDED.includes(claim.status)) {
      await this.end(claim, write)
      return
    }
    try {
      await this.claims.save(id, claim, () => this.statuses.save(id, claim.status, write))
    } finally {
      await this.ofEntries.delete(entryId)
    }
  }

  /**
   * Ends a claim in the source, and removes it from the cache: claim, status, the claims of its entry, and the
   * status of its workflow. The workflow metadata stays, for audit. A completed claim also changes its entry (call
   * `entries.invalidate`) and the key counts of both owners.
   */
  async end(claim: Pick<C, keyof DictClaim>, write: Write): Promise<void> {
    const { id, entryId, workflowId } = checked(claim)
    try {
      await write()
    } finally {
      await Promise.all([
        this.claims.delete(id),
        this.statuses.delete(id),
        this.ofEntries.delete(entryId),
        this.workflows.forgetStatus(workflowId),
      ])
    }
  }

  stats() {
    return { byId: this.claims.stats(), status: this.statuses.stats(), ofEntry: this.ofEntries.stats() }
  }
}

function checked({ id, entry_id, workflow_id, status }: DictClaim) {
  if (!CLAIM_STATUSES.includes(status)) {
    throw invalid('status', `must be one of ${CLAIM_STATUSES.join(', ')}`)
  }
  return {
    id: identifier('id', id),
    entryId: identifier('entry_id', entry_id),
    workflowId: plainName('workflow_id', workflow_id),
  }
}
