import { invalid } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { Caches } from '../../guards/cache/index.js'
import type { CacheSpace } from '../../guards/cache/space.js'
import type { Load } from '../../guards/cache/types.js'
import { DICT_TTL_MS, type DictOptions, dictSpace } from './spaces.js'
import { WORKFLOW_STATUSES, type WorkflowStatus } from './types.js'

const METADATA = { ttlMs: DICT_TTL_MS.workflowMetadata }

/** Workflows of claims, under `workflow:claim:{workflow_id}:status` and `:metadata`. */
export class DictWorkflows<M extends object> {
  /** One space for both, because both names begin alike. The key suffix distinguishes statuses from metadata. */
  private readonly space: CacheSpace<WorkflowStatus | M>

  constructor(cache: Caches, options: DictOptions) {
    this.space = dictSpace(cache, 'workflow:claim', DICT_TTL_MS.workflowStatus, {
      ...options,
      words: WORKFLOW_STATUSES,
    })
  }

  async status(workflowId: string, load: Load<WorkflowStatus>): Promise<WorkflowStatus | undefined> {
    return this.space.getOrLoad(statusKey(workflowId), load) as Promise<WorkflowStatus | undefined>
  }

  async setStatus(workflowId: string, status: WorkflowStatus): Promise<void> {
    if (!WORKFLOW_STATUSES.includes(status)) {
      throw invalid('status', `must be one of ${WORKFLOW_STATUSES.join(', ')}`)
    }
    await this.space.set(statusKey(workflowId), status)
  }

  async forgetStatus(workflowId: string): Promise<void> {
    await this.space.delete(statusKey(workflowId))
  }

  async metadata(workflowId: string, load: Load<M>): Promise<M | undefined> {
    return this.space.getOrLoad(metadataKey(workflowId), load, METADATA) as Promise<M | undefined>
  }

  async setMetadata(workflowId: string, metadata: M): Promise<void> {
    return this.space.set(metadataKey(workflowId), metadata, METADATA)
  }

  stats() {
    return this.space.stats()
  }
}

/** Without `:`, the separator before the suffix. */
const workflowName = (id: string): string => plainName('workflow_id', id)
const statusKey = (id: string): string => `${workflowName(id)}:status`
const metadataKey = (id: string): string => `${workflowName(id)}:metadata`
