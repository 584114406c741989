import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import { storeFacts } from '../engines/registry.js'
import { KeptKeys } from '../guards/access/kept-keys.js'
import { type CopiedState, readState } from '../guards/allowlist/last-known/disk-copy/state.js'
import { DEFAULT_LAST_KNOWN } from '../guards/allowlist/last-known/options.js'
import type { OpenOptions, OwnEngineOptions } from './open-options.js'

/** Where an instance keeps what it last knew. */
export interface Copy {
  readonly directory: string
  readonly maxBytes: number
  /** Without credentials: it only tells stores apart. */
  readonly store: string
  /** What an earlier process knew of this store, if it may still answer. */
  readonly state: CopiedState | undefined
  readonly keys: KeptKeys
}

type Given = OpenOptions & Partial<Pick<OwnEngineOptions, 'engine'>>

/** Reads the copy on disk, before any store is opened. Undefined: none is configured. */
export async function openCopy(
  options: Given,
  report: (message: string, error: unknown) => void,
): Promise<Copy | undefined> {
  const {
    directory: given,
    maxDiskBytes,
    keepKeys,
    maxStalenessMs,
  } = {
    ...DEFAULT_LAST_KNOWN,
    ...options.lastKnown,
  }
  if (given === undefined) return undefined
  const { store: url, clock = systemClock } = options
  const facts = url === undefined ? undefined : storeFacts(url)
  if (options.onUnavailable !== 'last-known') throw refused('needs onUnavailable: "last-known"')
  if (facts?.isRemote !== true) throw refused('is for a store that is reached over a network')
  if (options.dynamodb?.hotTier !== undefined) throw refused('cannot be used with dynamodb.hotTier')
  const directory = resolve(given)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const store = facts.shown
  const read = await readState(directory, store, clock.now(), maxStalenessMs)
  if (read !== undefined && 'why' in read)
    report(`the copy in ${directory} is not used: ${read.why}`, undefined)
  return {
    ...{ directory, store, maxBytes: maxDiskBytes },
    state: read !== undefined && 'state' in read ? read.state : undefined,
    keys: new KeptKeys({ directory, store, isEnabled: keepKeys, clock, report }),
  }
}

const refused = (why: string): CatracaError =>
  new CatracaError('CONFIG_INVALID', `lastKnown.directory ${why}`)
