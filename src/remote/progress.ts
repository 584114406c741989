import { every } from '../core/timers.js'
import type { ImportProgress, ImportStatus } from '../guards/allowlist/types.js'

interface WatchOptions {
  onProgress: ((progress: ImportProgress) => void) | undefined
  /** Reads the progress from the server. */
  status: (() => Promise<ImportStatus>) | undefined
  gzip: boolean | undefined
}

const ASK_EVERY_MS = 1000
const NEWLINE = 0x0a

/** Counts the bytes sent, and reads from the server now and then how many rows are stored. */
export function watchUpload(
  body: AsyncIterable<Uint8Array>,
  { onProgress, status, gzip }: WatchOptions,
): { body: AsyncIterable<Uint8Array>; stop: () => void } {
  if (onProgress === undefined) return { body, stop: () => {} }
  const progress: ImportProgress = { bytesRead: 0, rowsRead: 0, rowsAcknowledged: 0 }
  const tell = () => onProgress({ ...progress })
  const timer = every(() => {
    status?.().then(
      ({ rowsAcknowledged }) => {
        progress.rowsAcknowledged = rowsAcknowledged
        progress.rowsRead = Math.max(progress.rowsRead, rowsAcknowledged)
        tell()
      },
      // The server may not know the import yet; real failures reach the upload itself.
      () => {},
    )
  }, ASK_EVERY_MS)
  timer.unref()
  return { body: counted(body, progress, gzip, tell), stop: () => clearInterval(timer) }
}

async function* counted(
  body: AsyncIterable<Uint8Array>,
  progress: ImportProgress,
  gzip: boolean | undefined,
  tell: () => void,
): AsyncGenerator<Uint8Array> {
  let compressed = gzip
  for await (const chunk of body) {
    compressed ??= chunk[0] === 0x1f && chunk[1] === 0x8b
    yield chunk
    progress.bytesRead += chunk.length
    if (!compressed) progress.rowsRead += countLines(chunk)
    tell()
  }
}

function countLines(chunk: Uint8Array): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++
  return lines
}
