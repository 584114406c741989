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

  const follow = async (importId: string): Promise<void> => {
    setUpload({ phase: 'storing', status: undefined })
    while (!gone.current) {
      const status = await api.getImport({ id, importId })
      if (gone.current) return
      if (status.state !== 'running') {
        setUpload({ phase: 'ended', status })
        return onEnded(status)
      }
      setUpload({ phase: 'storing', status })
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  const start = async (file: File, mode: Mode): Promise<void> => {
    setUpload({ phase: 'sending', sentBytes: 0 })
    try {
      sending.current = send(id, file, mode, (sentBytes) => setUpload({ phase: 'sending', sentBytes }))
      const importId = await sending.current.done
      sending.current = undefined
      await follow(importId)
    } catch (error) {
      const problem = toProblem(error)
      setUpload(problem.code === 'ABORTED' ? { phase: 'cancelled' } : { phase: 'refused', problem })
    }
  }

  return {
    upload,
    start: (file, mode) => void start(file, mode),
    cancel: () => sending.current?.cancel(),
    reset: () => setUpload({ phase: 'idle' }),
  }
}
