import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type FleetRecord, type FleetStore, MAX_PROCESSES } from '../../../guards/fleet/port.js'
import { OWNER_DIRECTORY, OWNER_FILE } from '../lmdb/private-files.js'

const DRAFT = '.draft'
/** Dead processes leave their files behind. Readers remove them after this time. */
const LITTER_MS = 60_000
let drafts = 0

/**
 * A small file for each process, beside the store. Not in the store itself: every commit is synced to the disk, and
 * would start the writer thread of a process that writes nothing else.
 */
export class EmbeddedFleet implements FleetStore {
  readonly announceMs = 1000
  readonly expireMs = 3500

  constructor(private readonly directory: string) {}

  async announce(id: string, text: string, expireMs: number, now: number): Promise<void> {
    const file = join(this.directory, id)
    const draft = `${file}.${process.pid}-${threadId}-${drafts++}${DRAFT}`
    const write = () => writeFile(draft, `${now} ${now + expireMs}\n${text}`, { mode: OWNER_FILE })
    await write().catch(async () => {
      await mkdir(this.directory, { recursive: true, mode: OWNER_DIRECTORY })
      await write()
    })
    await rename(draft, file)
  }

  async leave(id: string): Promise<void> {
    await rm(join(this.directory, id), { force: true })
  }

  async list(now: number): Promise<FleetRecord[]> {
    const names = await readdir(this.directory).catch(() => [])
    const found: FleetRecord[] = []
    for (const id of names) {
      if (found.length === MAX_PROCESSES) break
      const content = await readFile(join(this.directory, id), 'utf8').catch(() => '')
      const end = content.indexOf('\n')
      const [at = 0, endsAt = 0] = content.slice(0, Math.max(0, end)).split(' ').map(Number)
      if (endsAt > now && !id.endsWith(DRAFT))
        found.push({ id, text: content.slice(end + 1), ageMs: now - at })
      // A file that is empty is being written.
      else if (endsAt > 0 && endsAt + LITTER_MS <= now) await this.leave(id).catch(() => {})
    }
    return found
  }
}
