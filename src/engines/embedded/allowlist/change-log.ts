import type {
  ChangeFeed,
  ListRef,
  LogEntry,
  LogPart,
  LogPosition,
  Position,
} from '../../../guards/allowlist/changes/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { logKey, readSequence } from './keys.js'
import type { Counters } from './meta.js'

/** Bytes per read. */
const READ_BYTES = 64 * 1024
const NOTHING: LogPart = { entries: [], more: false }
const NOWHERE: LogPosition = { sequence: Number.NaN, mark: 0 }

/** The change log of each list. It is in the store itself, so a change and its log entry are committed together. */
export class ChangeLog implements ChangeFeed {
  readonly isImmediate = true
  private seenSnapshot = -1
  private seenPulse = -1

  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  /** In a write transaction: appends the entry of a change. The caller stores `counters` afterwards. */
  append(no: number, counters: Counters, entry: Uint8Array): void {
    const { log, options } = this.environment
    counters.sequence++
    log.putSync(logKey(no, counters.sequence), entry as Buffer)
    counters.logBytes += entry.length
    while (counters.logBytes > options.maxLogBytes && counters.logStart < counters.sequence) {
      const oldest = logKey(no, counters.logStart++)
      counters.logBytes -= log.getBinaryFast(oldest)?.length ?? 0
      log.removeSync(oldest)
    }
    this.environment.bumpPulse()
  }

  position({ incarnation: no }: ListRef): Position | undefined {
    this.environment.refresh()
    if (this.catalog.readNumber(no) === undefined) return undefined
    return [{ sequence: this.catalog.counters(no).sequence, mark: 0 }]
  }

  read({ incarnation: no }: ListRef, [{ sequence: after } = NOWHERE]: Position): LogPart | 'gap' {
    this.environment.assertOpen()
    const { sequence, logStart } = this.catalog.counters(no)
    if (sequence === after) return NOTHING
    // A deleted list has no counters, so its followers get a gap.
    if (!(after + 1 >= logStart && after <= sequence)) return 'gap'
    const entries: LogEntry[] = []
    let bytes = 0
    for (const { key, value } of this.environment.log.getRange({
      start: logKey(no, after + 1),
      end: logKey(no, sequence + 1),
    })) {
      entries.push({ log: 0, sequence: readSequence(key), mark: 0, bytes: value })
      bytes += value.length
      if (bytes > READ_BYTES) return { entries, more: true }
    }
    return { entries, more: false }
  }

  hasChanges(): boolean {
    const { environment } = this
    environment.beginRead()
    if (this.seenSnapshot === environment.snapshot) return false
    const pulse = environment.pulse()
    this.seenSnapshot = environment.snapshot
    if (this.seenPulse === pulse) return false
    this.seenPulse = pulse
    return true
  }

  /** Not needed: every check calls `hasChanges`, which sees the commits of all processes. */
  watch(): { stop(): void } {
    return { stop() {} }
  }
}
