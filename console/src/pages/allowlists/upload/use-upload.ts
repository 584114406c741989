import { useEffect, useRef, useState } from 'react'
import { type ApiProblem, api, type ImportStatus, toProblem } from '../../../api/client.js'
import { type Sending, send } from './send.js'

export type Upload =
  | { phase: 'idle' | 'cancelled' }
  | { phase: 'sending'; sentBytes: number }
  | { phase: 'storing'; status: ImportStatus | undefined }
  | { phase: 'ended'; status: ImportStatus }
  | { phase: 'refused'; problem: ApiProblem }

export type Mode = 'add' | 'replace'

const POLL_MS = 400
const MAX_FAILURES = 30

/** `crypto.randomUUID` is there on secure pages only. */
function newId(): string {
  return `upload-${[...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('')}`
}

export interface UploadControl {
  upload: Upload
  start(file: File, mode: Mode): void
  cancel(): void
  reset(): void
}

/** Sends a file and follows what becomes of it. Whoever leaves the page while it is being sent gives it up. */
export function useUpload(id: string, onEnded: (status: ImportStatus) => void): UploadControl {
  const [upload, setUpload] = useState<Upload>({ phase: 'idle' })
  const sending = useRef<Sending>(undefined)
  const gone = useRef(false)
  useEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
      sending.current?.cancel()
    }
  }, [])

  /** Giving up can come a moment too late. */
  const hasBegun = (importId: string): Promise<boolean> =>
    api.getImport({ id, importId }).then(
      () => true,
      () => false,
    )

  const follow = async (importId: string): Promise<void> => {
    setUpload({ phase: 'storing', status: undefined })
    let failures = 0
    while (!gone.current) {
      // The import goes on whether it is watched or not: a hiccup on the way is no reason to call it broken.
      const status = await api.getImport({ id, importId }).catch((error: unknown) => {
        if (++failures > MAX_FAILURES) throw error
      })
      if (gone.current) return
      if (status !== undefined && status.state !== 'running') {
        setUpload({ phase: 'ended', status })
        return onEnded(status)
      }
      if (status !== undefined) setUpload({ phase: 'storing', status })
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  const start = async (file: File, mode: Mode): Promise<void> => {
    setUpload({ phase: 'sending', sentBytes: 0 })
    const importId = newId()
    try {
      sending.current = send({ id, file, mode, importId }, (sentBytes) =>
        setUpload({ phase: 'sending', sentBytes }),
      )
      await sending.current.done
      await follow(importId)
    } catch (error) {
      const problem = toProblem(error)
      if (problem.code !== 'ABORTED') setUpload({ phase: 'refused', problem })
      else if (await hasBegun(importId)) await follow(importId)
      else setUpload({ phase: 'cancelled' })
    } finally {
      sending.current = undefined
    }
  }

  return {
    upload,
    start: (file, mode) => void start(file, mode),
    cancel: () => sending.current?.cancel(),
    reset: () => setUpload({ phase: 'idle' }),
  }
}
