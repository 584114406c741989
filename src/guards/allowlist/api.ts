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

/** Allowlists as a caller sees them: the same in the library and, over HTTP, in the client of the command line. */
export interface AllowlistsApi {
  create(input: NewAllowlist): Promise<Allowlist>
  get(id: string): Promise<Allowlist>
  list(query?: AllowlistQuery): Promise<AllowlistPage>
  update(id: string, change: AllowlistChange, options?: { ifVersion?: number }): Promise<Allowlist>
  delete(id: string): Promise<void>
  /** Has a wave let nobody pass, whatever its version; its rule is kept for `resume`. */
  pause(id: string): Promise<Allowlist>
  /** Gives a paused wave its rule back. */
  resume(id: string, options?: { ifVersion?: number }): Promise<Allowlist>

  add(id: string, customerId: string, input?: MemberInput): Promise<AddResult>
  remove(id: string, customerId: string): Promise<RemoveResult>
  member(id: string, customerId: string): Promise<Member>
  members(id: string, page?: PageRequest): Promise<Page<Member>>
  listsOf(customerId: string, page?: PageRequest): Promise<Page<CustomerAllowlist>>

  /** Moves the list to so many shards while it serves; settles when it is there. Only on engines that cut lists. */
  reshard(id: string, shards: number, options?: ReshardCallOptions): Promise<Allowlist>
  resharding(id: string): Promise<ReshardStatus>

  import(id: string, body: AsyncIterable<Uint8Array>, options?: ImportOptions): Promise<ImportResult>
  importStatus(id: string, importId: string): Promise<ImportStatus>
  export(id: string, options?: ExportOptions): AsyncIterable<Uint8Array>

  index(id: string): Promise<IndexStatus>
  /** Has the snapshot built anew; settles when it is done. */
  rebuild(id: string): Promise<void>

  check(customerId: string, allowlistIds: string[], options?: CheckOptions): Promise<CheckAnswer>
  /** The same answer, and how it came about. */
  explain(customerId: string, allowlistIds: string[]): Promise<Explanation>
  checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options?: CheckOptions,
  ): Promise<{ results: CheckAnswer[] }>
}
