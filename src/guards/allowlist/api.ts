import type {
  AddResult,
  Allowlist,
  AllowlistChange,
  AllowlistPage,
  AllowlistQuery,
  CheckAnswer,
  CheckOptions,
  CustomerAllowlist,
  Explanation,
  ExportOptions,
  ImportOptions,
  ImportResult,
  ImportStatus,
  IndexStatus,
  Member,
  MemberInput,
  NewAllowlist,
  Page,
  PageRequest,
  RemoveResult,
  ReshardStatus,
} from './types.js'

export interface ReshardCallOptions {
  signal?: AbortSignal
  onProgress?: (status: ReshardStatus) => void
}

/** The allowlist API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface AllowlistsApi {
  create(input: NewAllowlist): Promise<Allowlist>
  get(id: string): Promise<Allowlist>
  list(query?: AllowlistQuery): Promise<AllowlistPage>
  update(id: string, change: AllowlistChange, options?: { ifVersion?: number }): Promise<Allowlist>
  delete(id: string): Promise<void>
  /** Makes a wave deny every customer, whatever its version. The rule is stored for `resume`. */
  pause(id: string): Promise<Allowlist>
  /** Restores the rule of a paused wave. */
  resume(id: string, options?: { ifVersion?: number }): Promise<Allowlist>

  add(id: string, customerId: string, input?: MemberInput): Promise<AddResult>
  remove(id: string, customerId: string): Promise<RemoveResult>
  member(id: string, customerId: string): Promise<Member>
  members(id: string, page?: PageRequest): Promise<Page<Member>>
  listsOf(customerId: string, page?: PageRequest): Promise<Page<CustomerAllowlist>>

  /**
   * Moves the list to `shards` shards while it serves. Resolves when the move is
   * complete. Only on engines that shard lists.
   */
  reshard(id: string, shards: number, options?: ReshardCallOptions): Promise<Allowlist>
  resharding(id: string): Promise<ReshardStatus>

  import(id: string, body: AsyncIterable<Uint8Array>, options?: ImportOptions): Promise<ImportResult>
  importStatus(id: string, importId: string): Promise<ImportStatus>
  export(id: string, options?: ExportOptions): AsyncIterable<Uint8Array>

  index(id: string): Promise<IndexStatus>
  /** Builds a new snapshot. Resolves when it is built. */
  rebuild(id: string): Promise<void>

  check(customerId: string, allowlistIds: string[], options?: CheckOptions): Promise<CheckAnswer>
  /** The same result as `check`, with the steps that led to it. */
  explain(customerId: string, allowlistIds: string[]): Promise<Explanation>
  checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options?: CheckOptions,
  ): Promise<{ results: CheckAnswer[] }>
}
