import { fileURLToPath } from 'node:url'

/** What a command says when one of its reads stalls. */
export const STALLED = 'reads no further'

const PRELOAD = fileURLToPath(new URL('./stalling-reads.js', import.meta.url))

/** The environment of a command whose reads of such files stall in the middle, until it gets SIGUSR2. */
export function stalledReads(paths: RegExp): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PRELOAD}`, STALLED_READS: paths.source }
}
