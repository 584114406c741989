import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { AllowlistsApi, ReshardCallOptions } from '../../guards/allowlist/api.js'
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
  ExportFormat,
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
} from '../../guards/allowlist/types.js'
import { watchUpload } from './progress.js'
import type { HttpTransport } from './transport.js'

const MEDIA_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  text: 'text/plain',
}

const BUILD_POLL_MS = 200
/** A build may start with a delay: it may wait for other builds, or another worker of the server may run it. */
const MAX_IDLE_POLLS = 50

/**
 * Ids are checked before they become part of a path: an empty id or `..` would reach another route, because URLs are
 * normalised.
 */
const listPath = (id: string): string => `/allowlists/${encodeURIComponent(plainName('allowlistId', id))}`
const ifMatch = ({ ifVersion }: { ifVersion?: number }): Record<string, string> =>
  ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }
const customerSegment = (id: string): string => encodeURIComponent(identifier('customerId', id))

/** Allowlists over HTTP, with the results and errors of the library. */
export class HttpAllowlists implements AllowlistsApi {
  constructor(private readonly http: HttpTransport) {}

  create(input: NewAllowlist): Promise<Allowlist> {
    return this.http.json('POST', '/allowlists', { body: input })
  }

  async get(id: string): Promise<Allowlist> {
    return this.http.json('GET', listPath(id))
  }

  list(query: AllowlistQuery = {}): Promise<AllowlistPage> {
    return this.http.json('GET', '/allowlists', { query: { ...query } })
  }

  async update(
    id: string,
    change: AllowlistChange,
    options: { ifVersion?: number } = {},
  ): Promise<Allowlist> {
    return this.http.json('PATCH', listPath(id), { body: change, headers: ifMatch(options) })
  }

  async pause(id: string): Promise<Allowlist> {
    return this.http.json('POST', `${listPath(id)}/pause`)
  }

  async resume(id: string, options: { ifVersion?: number } = {}): Promise<Allowlist> {
    return this.http.json('POST', `${listPath(id)}/resume`, { headers: ifMatch(options) })
  }

  async delete(id: string): Promise<void> {
    await this.http.json('DELETE', listPath(id))
  }

  async add(id: string, customerId: string, input: MemberInput = {}): Promise<AddResult> {
    return this.http.json('PUT', memberPath(id, customerId), { body: input })
  }

  async remove(id: string, customerId: string): Promise<RemoveResult> {
    return this.http.json('DELETE', memberPath(id, customerId))
  }

  async member(id: string, customerId: string): Promise<Member> {
    return this.http.json('GET', memberPath(id, customerId))
  }

  async members(id: string, page: PageRequest = {}): Promise<Page<Member>> {
    return this.http.json('GET', `${listPath(id)}/customers`, { query: { ...page } })
  }

  async listsOf(customerId: string, page: PageRequest = {}): Promise<Page<CustomerAllowlist>> {
    const path = `/customers/${customerSegment(customerId)}/allowlists`
    return this.http.json('GET', path, { query: { ...page } })
  }

  async import(
    id: string,
    body: AsyncIterable<Uint8Array>,
    options: ImportOptions = {},
  ): Promise<ImportResult> {
    const { mode, importId, addedBy, column, maxErrors, format = 'csv', gzip, signal, onProgress } = options
    const path = listPath(id)
    const status = importId === undefined ? undefined : () => this.importStatus(id, importId)
    const watched = watchUpload(body, { onProgress, status, gzip })
    try {
      return await this.http.upload(`${path}/import`, {
        query: {
          ...{ mode, importId, addedBy, column },
          ...(maxErrors !== undefined && { maxErrors: String(maxErrors) }),
        },
        headers: { 'content-type': MEDIA_TYPES[format] },
        body: watched.body,
        signal,
      })
    } catch (error) {
      if (!signal?.aborted) throw error
      throw new CatracaError('IMPORT_INTERRUPTED', 'the import was interrupted', { cause: error })
    } finally {
      watched.stop()
    }
  }

  async importStatus(id: string, importId: string): Promise<ImportStatus> {
    const segment = encodeURIComponent(identifier('importId', importId))
    return this.http.json('GET', `${listPath(id)}/imports/${segment}`)
  }

  async *export(
    id: string,
    { format = 'csv', spreadsheet = false }: ExportOptions = {},
  ): AsyncIterable<Uint8Array> {
    if (!Object.hasOwn(MEDIA_TYPES, format)) throw invalid('format', 'must be csv, ndjson or text')
    const query = spreadsheet ? '?spreadsheet=1' : ''
    yield* this.http.download(`${listPath(id)}/export${query}`, { accept: MEDIA_TYPES[format] })
  }

  async index(id: string): Promise<IndexStatus> {
    return this.http.json('GET', `${listPath(id)}/index`)
  }

  /** The server responds at once; this method waits until the build is done. */
  async rebuild(id: string): Promise<void> {
    const before: IndexStatus = await this.http.json('POST', `${listPath(id)}/rebuild`)
    let idlePolls = 0
    for (;;) {
      await sleep(BUILD_POLL_MS)
      const { building, lastBuild } = await this.index(id)
      if (building) idlePolls = 0
      else if (lastBuild?.at !== before.lastBuild?.at) return
      else if (++idlePolls > MAX_IDLE_POLLS) {
        throw new CatracaError('ENGINE_UNAVAILABLE', 'the server did not build the index; see its log')
      }
    }
  }

  /** The server responds at once; this method waits until the move is done. An abort only ends the wait. */
  async reshard(
    id: string,
    shards: number,
    { signal, onProgress }: ReshardCallOptions = {},
  ): Promise<Allowlist> {
    let status: ReshardStatus = await this.http.json('POST', `${listPath(id)}/reshard`, { body: { shards } })
    while (status.moving !== undefined) {
      signal?.throwIfAborted()
      onProgress?.(status)
      await sleep(BUILD_POLL_MS)
      status = await this.resharding(id)
    }
    if (status.shardCount === shards) return this.get(id)
    throw new CatracaError('ENGINE_UNAVAILABLE', 'the server did not finish the move; see its log')
  }

  async resharding(id: string): Promise<ReshardStatus> {
    return this.http.json('GET', `${listPath(id)}/reshard`)
  }

  async check(customerId: string, allowlistIds: string[], options: CheckOptions = {}): Promise<CheckAnswer> {
    return this.http.json('GET', `/customers/${customerSegment(customerId)}/check`, {
      query: { allowlists: allowlistIds.join(','), ...options },
    })
  }

  async explain(customerId: string, allowlistIds: string[]): Promise<Explanation> {
    const path = `/customers/${customerSegment(customerId)}/explain`
    return this.http.json('GET', path, { query: { allowlists: allowlistIds.join(',') } })
  }

  checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options: CheckOptions = {},
  ): Promise<{ results: CheckAnswer[] }> {
    return this.http.json('POST', '/check', { body: question, query: { ...options } })
  }
}

/** The customer is checked first, as in the library, so that both report the same id when two are wrong. */
function memberPath(id: string, customerId: string): string {
  const segment = customerSegment(customerId)
  return `${listPath(id)}/customers/${segment}`
}
