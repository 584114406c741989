import { join } from 'node:path'
import { DamagedFile, readChecked } from '../../../../core/checked-file.js'
import type { ListRef, Position } from '../../changes/port.js'
import type { Manifest } from '../../membership/port.js'
import type { CheckedList } from '../../port.js'

export interface CopiedList {
  list: CheckedList
  /** When the record was last certainly right, in epoch milliseconds. */
  knownAt: number
}

export interface CopiedImage {
  list: ListRef
  manifest: Manifest
  position: Position
  generation?: number | undefined
  knownAt: number
  /** The file with what changed since the snapshot. Empty: nothing did. */
  changes: string
}

/** What a copy on disk holds. Pages and changes are in files of their own, which it names. */
export interface CopiedState {
  format: 1
  /** A copy of another store must never answer. */
  store: string
  savedAt: number
  lists: CopiedList[]
  images: CopiedImage[]
}

export const statePath = (directory: string): string => join(directory, 'state')

export const pageFile = ({ incarnation }: ListRef, name: string, checksum: number): string =>
  `page-${incarnation}-${checksum.toString(16)}-${encodeURIComponent(name)}`

/** Clocks of one machine may differ by so much between two starts, without being wrong. */
const CLOCK_SLACK_MS = 5000

/** Undefined: there is no copy of this store that may still answer. `why` says it, if there is a copy. */
export async function readState(
  directory: string,
  store: string,
  now: number,
  maxStalenessMs: number,
): Promise<{ state: CopiedState } | { why: string } | undefined> {
  let bytes: Buffer | undefined
  try {
    bytes = await readChecked(statePath(directory))
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error
    return { why: error.message }
  }
  if (bytes === undefined) return undefined
  const state = JSON.parse(bytes.toString('utf8')) as CopiedState
  if (state.format !== 1) return { why: `it has format ${state.format}` }
  if (state.store !== store) return { why: `it is a copy of ${state.store}` }
  if (state.savedAt > now + CLOCK_SLACK_MS) return { why: 'it was made after the time that this clock shows' }
  const newest = Math.max(...[...state.lists, ...state.images].map(({ knownAt }) => knownAt))
  if (!(now - newest <= maxStalenessMs)) return { why: 'it is older than maxStalenessMs' }
  return { state }
}
