import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError, invalid } from '../core/errors.js'
import { identifier, plainName } from '../core/identifiers.js'
import type { AllowlistsApi, ReshardCallOptions } from '../guards/allowlist/api.js'
import type {
  Allowlist,
  ExportOptions,
  ImportOptions,
  ImportResult,
  ImportStatus,
  ReshardStatus,
} from '../guards/allowlist/types.js'
import { type Calls, change, libraryError } from './calls.js'
import { watchUpload } from './progress.js'

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson', text: 'text/plain' } as const

const BUILD_POLL_MS = 200
/** A build may start with a delay: it may wait for other builds, or another worker of the server may run it. */
const MAX_IDLE_POLLS = 50

const listOf = (id: string) => ({ id: plainName('allowlistId', id) })
const customerOf = (id: string) => ({ customerId: identifier('customerId', id) })
/** The customer is checked first, as in the library, so that both report the same id when two are wrong. */
const memberOf = (id: string, customerId: string) => ({ ...customerOf(customerId), ...listOf(id) })
const ifMatch = ({ ifVersion }: { ifVersion?: number } = {}) =>
  ifVersion === undefined ? {} : { ifMatch: `"${ifVersion}"` }

/** Allowlists over HTTP, with the results and errors of the library. */
export function remoteAllowlists(calls: Calls, url?: string): AllowlistsApi {
  return {
    create: (body) => calls.createAllowlist({ body }),
    get: async (id) => calls.getAllowlist(listOf(id)),
    list: (query) => calls.listAllowlists(query),
    usedBy: async (id) => (await calls.listUses(listOf(id))).items,
    update: async (id, body, options) => calls.updateAllowlist({ ...listOf(id), body, ...ifMatch(options) }),
    pause: async (id) => calls.pauseAllowlist(listOf(id)),
    resume: async (id, { shift, ...options } = {}) =>
      calls.resumeAllowlist({
        ...listOf(id),
        body: shift === undefined ? {} : { shift },
        ...ifMatch(options),
      }),
    delete: async (id) => calls.deleteAllowlist(listOf(id)),
    changeAll: (changes) => change(calls.changeAllowlists({ body: { changes: [...changes] } })),

    add: async (id, customerId, body = {}) => calls.addMember({ ...memberOf(id, customerId), body }),
    remove: async (id, customerId) => calls.removeMember(memberOf(id, customerId)),
    member: async (id, customerId) => calls.getMember(memberOf(id, customerId)),
    members: async (id, page) => calls.listMembers({ ...listOf(id), ...page }),
    listsOf: async (customerId, page) =>
      calls.listAllowlistsOfCustomer({ ...customerOf(customerId), ...page }),

    check: async (customerId, allowlists, options) =>
      calls.checkCustomer({ ...customerOf(customerId), allowlists, ...options }),
    explain: async (customerId, allowlists) => calls.explainCheck({ ...customerOf(customerId), allowlists }),
    explainAll: async (customerId, query) => calls.explainCheck({ ...customerOf(customerId), ...query }),
    sample: async (id, options) => calls.sampleWave({ ...listOf(id), ...options }),
    checkMany: (body, options) => calls.checkCustomers({ body, ...options }),

    import: (id, body, options) => upload(calls, id, body, options),
    importStatus: async (id, importId) =>
      calls.getImport({ ...listOf(id), importId: identifier('importId', importId) }),
    imports: async (id, options) =>
      (await calls.listImports<{ items: ImportStatus[] }>({ ...listOf(id), ...options })).items,
    export: (id, options) => download(calls, url, id, options),

    index: async (id) => calls.getIndex(listOf(id)),
    rebuild: (id) => rebuild(calls, id),
    resharding: async (id) => calls.getShards(listOf(id)),
    reshard: (id, shards, options) => reshard(calls, id, shards, options),
  }
}

async function upload(
  calls: Calls,
  id: string,
  body: AsyncIterable<Uint8Array>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { mode, importId, addedBy, column, maxErrors, format = 'csv', gzip, signal, onProgress } = options
  const list = listOf(id)
  const status =
    importId === undefined ? undefined : () => calls.getImport<ImportStatus>({ ...list, importId })
  const watched = watchUpload(body, { onProgress, status, gzip })
  const input = { ...list, mode, importId, addedBy, column, maxErrors, contentType: MEDIA_TYPES[format] }
  try {
    return await calls.importMembers({ ...input, body: watched.body }, { signal })
  } catch (error) {
    if (!signal?.aborted) throw error
    throw new CatracaError('IMPORT_INTERRUPTED', 'the import was interrupted', { cause: error })
  } finally {
    watched.stop()
  }
}

async function* download(
  calls: Calls,
  url: string | undefined,
  id: string,
  { format = 'csv', spreadsheet = false }: ExportOptions = {},
): AsyncIterable<Uint8Array> {
  if (!Object.hasOwn(MEDIA_TYPES, format)) throw invalid('format', 'must be csv, ndjson or text')
  const response = await calls.exportMembers({
    ...listOf(id),
    accept: MEDIA_TYPES[format],
    ...(spreadsheet && { spreadsheet: '1' }),
  })
  try {
    yield* response.body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>
  } catch (error) {
    throw libraryError(url, error)
  }
}

/** The server responds at once; this waits until the build is done. */
async function rebuild(calls: Calls, id: string): Promise<void> {
  const list = listOf(id)
  const before = await calls.rebuildIndex(list)
  let idlePolls = 0
  for (;;) {
    await sleep(BUILD_POLL_MS)
    const { building, lastBuild } = await calls.getIndex(list)
    if (building) idlePolls = 0
    else if (lastBuild?.at !== before.lastBuild?.at) return
    else if (++idlePolls > MAX_IDLE_POLLS) {
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the server did not build the index; see its log')
    }
  }
}

/** The server responds at once; this waits until the move is done. An abort only ends the wait. */
async function reshard(
  calls: Calls,
  id: string,
  shards: number,
  { signal, onProgress }: ReshardCallOptions = {},
): Promise<Allowlist> {
  const list = listOf(id)
  let status = await calls.reshardAllowlist<ReshardStatus>({ ...list, body: { shards } })
  while (status.moving !== undefined) {
    signal?.throwIfAborted()
    onProgress?.(status)
    await sleep(BUILD_POLL_MS)
    status = await calls.getShards(list)
  }
  if (status.shardCount === shards) return calls.getAllowlist(list)
  throw new CatracaError('ENGINE_UNAVAILABLE', 'the server did not finish the move; see its log')
}
