/**
 * Processes are killed (SIGKILL) at random moments: while adding, importing, replacing and deleting, all on the
 * directory that this process has open too. What they were told to be stored is there, counts are right, imports
 * can be resumed to the same end, replaces are whole or not at all, deleted members stay deleted. And a process that
 * exits by itself in the middle of a write comes to its end, and leaves nobody waiting.
 * Arguments: --rounds 40 --rows 200000 (of the import) --size 20000 (of the replaced and the deleted list)
 *   --killsPerImport 4
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { exitImporting, importUndisturbed, killImporting, writeImport } from '../support/kill-imports.js'
import { LEASE_MS } from '../support/kill-process.js'
import { killReplacing } from '../support/kill-replace.js'
import { killAdding, killDeleting } from '../support/kill-scenes.js'
import { demand, demandNoLitter, type Figures, inTemporaryDirectory, whenStarted } from '../support/proof.js'
import type { Stage } from '../support/victim.js'

const SIZES = { rounds: 40, rows: 200_000, size: 20_000, killsPerImport: 4 }

export function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  return inTemporaryDirectory(async (files) => {
    const directory = join(files, 'store')
    mkdirSync(directory)
    const catraca = await openCatraca({
      store: `embedded:${directory}`,
      sweepIntervalMs: 0,
      embedded: { writeTimeoutMs: 60_000 },
    })
    const stage: Stage = { catraca, directory, files, kills: 0, undone: 0, replaceMs: 0 }
    const survivor = new Survivor(catraca)
    try {
      await survivor.start()
      await play(stage, sizes)
      await survivor.stop()
      await sleep(LEASE_MS)
      await catraca.upkeep()
      const { items } = await catraca.allowlists.list({ limit: 1000 })
      const members = items.reduce((sum, { customerCount }) => sum + customerCount, 0)
      await catraca.close()
      await demandNoLitter(directory, members)
    } finally {
      await survivor.stop()
      await catraca.close()
    }
    return {
      kills: stage.kills,
      'of them in a replace before its switch': stage.undone,
      'writes of the survivor': survivor.writes,
      'longest of them ms': survivor.longestMs,
    }
  })
}

async function play(stage: Stage, { rounds, rows, size, killsPerImport }: typeof SIZES): Promise<void> {
  const file = writeImport(stage, rows)
  const reference = await importUndisturbed(stage, file)
  for (let round = 0; round < rounds; round++) {
    await Promise.all([
      killAdding(stage, round),
      killImporting(stage, round, file, reference, killsPerImport),
      exitImporting(stage, round, file, reference),
      killReplacing(stage, round, size, round === rounds - 1),
      killDeleting(stage, size),
    ])
    await Promise.all(
      [`adds-${round}`, `imports-${round}`, `exits-${round}`].map((id) =>
        stage.catraca.allowlists.delete(id),
      ),
    )
  }
}

/** Writes and checks in this process all the while: the death of another must not stop it. */
class Survivor {
  writes = 0
  longestMs = 0
  private running = false
  private ended: Promise<void> = Promise.resolve()

  constructor(private readonly catraca: Catraca) {}

  async start(): Promise<void> {
    await this.catraca.allowlists.create({ id: 'survivor', name: 'survivor', type: 'FIXA' })
    this.running = true
    this.ended = this.work()
    // It is awaited by `stop`; until then a failure of it must not end the process.
    this.ended.catch(() => {})
  }

  private async work(): Promise<void> {
    const { allowlists } = this.catraca
    while (this.running) {
      const begin = performance.now()
      const id = `customer-${this.writes++}`
      const { customerCount, token } = await allowlists.add('survivor', id)
      this.longestMs = Math.max(this.longestMs, performance.now() - begin)
      demand(customerCount === this.writes, `survivor: ${customerCount} counted after ${this.writes} adds`)
      const { overallAllowed } = await allowlists.check(id, ['survivor'], { atLeast: token })
      demand(overallAllowed, `survivor: a check with the token of its add does not see ${id}`)
      await sleep(5)
    }
  }

  async stop(): Promise<void> {
    this.running = false
    await this.ended
  }
}

await whenStarted(import.meta.url, 'kill', SIZES, run)
