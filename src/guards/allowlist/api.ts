import type * as Types from './types.js'

export interface ReshardCallOptions {
  signal?: AbortSignal
  onProgress?: (status: Types.ReshardStatus) => void
}

/** The allowlist API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface AllowlistsApi {
  create(input: Types.NewAllowlist): Promise<Types.Allowlist>
  get(id: string): Promise<Types.Allowlist>
  list(query?: Types.AllowlistQuery): Promise<Types.AllowlistPage>
  /** The waves whose base or exclusion this list is. */
  usedBy(id: string): Promise<Types.ListUse[]>
  update(
    id: string,
    change: Types.AllowlistChange,
    options?: { ifVersion?: number },
  ): Promise<Types.Allowlist>
  delete(id: string): Promise<void>
  /**
   * Makes all changes, or none if one is refused or a list was changed by somebody else (VERSION_MISMATCH). A paused
   * wave stays paused, with its new rule.
   */
  changeAll(changes: readonly Types.ListSetChange[]): Promise<{ changed: number }>
  /** Makes a wave deny every customer, whatever its version. The rule is stored for `resume`. */
  pause(id: string): Promise<Types.Allowlist>
  /** Restores the rule of a paused wave. */
  resume(id: string, options?: Types.ResumeOptions): Promise<Types.Allowlist>

  add(id: string, customerId: string, input?: Types.MemberInput): Promise<Types.AddResult>
  remove(id: string, customerId: string): Promise<Types.RemoveResult>
  member(id: string, customerId: string): Promise<Types.Member>
  members(id: string, query?: Types.MemberQuery): Promise<Types.Page<Types.Member>>
  listsOf(customerId: string, page?: Types.PageRequest): Promise<Types.Page<Types.CustomerAllowlist>>

  /**
   * Moves the list to `shards` shards while it serves. Resolves when the move is
   * complete. Only on engines that shard lists.
   */
  reshard(id: string, shards: number, options?: ReshardCallOptions): Promise<Types.Allowlist>
  resharding(id: string): Promise<Types.ReshardStatus>

  import(
    id: string,
    body: AsyncIterable<Uint8Array>,
    options?: Types.ImportOptions,
  ): Promise<Types.ImportResult>
  importStatus(id: string, importId: string): Promise<Types.ImportStatus>
  /** Imports of the last 7 days, the latest first. */
  imports(id: string, options?: { limit?: number }): Promise<Types.ImportStatus[]>
  export(id: string, options?: Types.ExportOptions): AsyncIterable<Uint8Array>

  index(id: string): Promise<Types.IndexStatus>
  /** Builds a new snapshot. Resolves when it is built. */
  rebuild(id: string): Promise<void>

  check(customerId: string, allowlistIds: string[], options?: Types.CheckOptions): Promise<Types.CheckAnswer>
  /** The same result as `check`, with the steps that led to it. */
  explain(customerId: string, allowlistIds: string[]): Promise<Types.Explanation>
  /** Explains all lists, page by page. */
  explainAll(customerId: string, query?: Types.ExplainQuery): Promise<Types.Explanation>
  /** Some customers who pass a wave now, from its base. */
  sample(id: string, options?: { limit?: number }): Promise<Types.WaveSample>
  checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options?: Types.CheckOptions,
  ): Promise<{ results: Types.CheckAnswer[] }>
}
