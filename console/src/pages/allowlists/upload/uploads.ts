import { useEffect, useSyncExternalStore } from 'react'
import { type ApiProblem, api, type ImportStatus, toProblem } from '../../../api/client.js'
import { dropUnsaved, keepUnsaved } from '../../../data/unsaved.js'
import { type Sending, send } from './send.js'

export type Upload =
  | { phase: 'idle' | 'cancelled' }
  | { phase: 'sending'; sentBytes: number; totalBytes: number }
  | { phase: 'storing'; status: ImportStatus | undefined }
  | { phase: 'ended'; status: ImportStatus }
  | { phase: 'refused'; problem: ApiProblem }

export type Mode = 'add' | 'remove' | 'replace'

export interface UploadInput {
  file: File
  mode: Mode
  /** The id column, when it differs from the server's default. */
  column?: string | undefined
}

const POLL_MS = 400
const MAX_FAILURES = 30
const IDLE: Upload = { phase: 'idle' }
/** The last import of each list that this tab started, so that it is found again after a reload. */
const STORAGE_NAME = 'catraca.imports'

/** Uploads by list. They belong to the tab, not to a page, so leaving the page does not lose them. */
const uploads = new Map<string, Upload>()
const sendings = new Map<string, Sending>()
const listeners = new Set<() => void>()

function set(id: string, upload: Upload): void {
  uploads.set(id, upload)
  if (upload.phase === 'sending') keepUnsaved(`upload ${id}`, true)
  else dropUnsaved(`upload ${id}`)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The upload of a list. `onEnded` is called for each upload that ends while the page is shown. */
export function useUpload(id: string, onEnded: (status: ImportStatus) => void): Upload {
  const upload = useSyncExternalStore(subscribe, () => uploads.get(id) ?? IDLE)
  useEffect(() => findAgain(id), [id])
  const ended = upload.phase === 'ended' ? upload.status : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once for each upload that ends.
  useEffect(() => {
    if (ended === undefined || told.has(ended)) return
    told.add(ended)
    onEnded(ended)
  }, [ended])
  return upload
}

const told = new WeakSet<ImportStatus>()

/** `crypto.randomUUID` exists only on secure pages. */
function newId(): string {
  return `upload-${[...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('')}`
}

export async function startUpload(id: string, input: UploadInput): Promise<void> {
  const importId = newId()
  const totalBytes = input.file.size
  const progress = (sentBytes: number): void => set(id, { phase: 'sending', sentBytes, totalBytes })
  progress(0)
  try {
    const sending = send({ id, importId, ...input }, progress)
    sendings.set(id, sending)
    await sending.done
    await follow(id, importId)
  } catch (error) {
    const problem = toProblem(error)
    if (problem.code !== 'ABORTED') set(id, { phase: 'refused', problem })
    // A cancellation may come too late.
    else if (await hasBegun(id, importId)) await follow(id, importId)
    else set(id, { phase: 'cancelled' })
  } finally {
    sendings.delete(id)
  }
}

export function cancelUpload(id: string): void {
  sendings.get(id)?.cancel()
}

export function forgetUpload(id: string): void {
  remember(id, undefined)
  set(id, IDLE)
}

const hasBegun = (id: string, importId: string): Promise<boolean> =>
  api.getImport({ id, importId }).then(
    () => true,
    () => false,
  )

/** The import continues without this tab, so a failed status request does not mean that it failed. */
async function follow(id: string, importId: string): Promise<void> {
  remember(id, importId)
  set(id, { phase: 'storing', status: undefined })
  for (let failures = 0; ; ) {
    const status = await api.getImport({ id, importId }).catch((error: unknown) => {
      if (++failures > MAX_FAILURES) throw error
    })
    if (status !== undefined && status.state !== 'running') return set(id, { phase: 'ended', status })
    if (status !== undefined) set(id, { phase: 'storing', status })
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/**
 * After a reload: the import that this tab started. An import that the server does not know any more is forgotten
 * here too.
 */
function findAgain(id: string): void {
  const importId = remembered()[id]
  if (uploads.has(id) || importId === undefined) return
  uploads.set(id, IDLE)
  void hasBegun(id, importId).then((begun) => {
    if (!begun) return remember(id, undefined)
    follow(id, importId).catch((error: unknown) => set(id, { phase: 'refused', problem: toProblem(error) }))
  })
}

function remembered(): Record<string, string> {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_NAME) ?? '{}') as Record<string, string>
  } catch {
    return {}
  }
}

function remember(id: string, importId: string | undefined): void {
  const { [id]: _, ...others } = remembered()
  const kept = importId === undefined ? others : { ...others, [id]: importId }
  try {
    if (Object.keys(kept).length === 0) sessionStorage.removeItem(STORAGE_NAME)
    else sessionStorage.setItem(STORAGE_NAME, JSON.stringify(kept))
  } catch {
    // Storage may be forbidden: the import is then not found after a reload.
  }
}
