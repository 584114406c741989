/** A process that the kill proof starts, gives one order, and kills in the middle of it. */
import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { ImportMode, ImportResult } from '../../src/guards/allowlist/types.js'
import { dieOfFailures, type Failed } from './proof.js'

/** An import whose process died can be taken over after this long. */
export const LEASE_MS = 300

export type Order =
  /** Adds customers from a number on, for ever, and removes every fifth again. */
  | { work: 'add'; listId: string; first: number }
  | { work: 'import'; listId: string; file: string; importId: string; mode: ImportMode; exitAfterMs?: number }
  | { work: 'delete'; listId: string }

export type Said =
  | { type: 'ready' }
  | { type: 'added' | 'removed'; customer: number }
  | { type: 'imported'; result: ImportResult }
  | { type: 'swept' }
  | Failed

const LANES = 4
/** Every so many customers one is removed again. */
export const REMOVED_EACH = 5

async function main(directory: string, order: Order): Promise<void> {
  const catraca = await openCatraca({
    store: `embedded:${directory}`,
    sweepIntervalMs: 0,
    import: { leaseMs: LEASE_MS },
    embedded: { writeTimeoutMs: 60_000 },
  })
  const { allowlists } = catraca
  const say = (message: Said): void => void process.send!(message)
  const { listId } = order

  async function add(from: number): Promise<void> {
    for (let i = from; ; i += LANES) {
      await allowlists.add(listId, customer(i))
      say({ type: 'added', customer: i })
      if (i % REMOVED_EACH > 0) continue
      await allowlists.remove(listId, customer(i))
      say({ type: 'removed', customer: i })
    }
  }

  async function importFile({ file, importId, mode }: Extract<Order, { work: 'import' }>): Promise<void> {
    for (;;) {
      try {
        const body = createReadStream(file)
        const result = await allowlists.import(listId, body, { format: 'csv', mode, importId })
        return say({ type: 'imported', result })
      } catch (error) {
        // The lease of the one that was killed.
        const isHeld =
          isCatracaError(error, 'IMPORT_IN_PROGRESS') || isCatracaError(error, 'REPLACE_IN_PROGRESS')
        if (!isHeld) throw error
        await sleep(LEASE_MS / 4)
      }
    }
  }

  say({ type: 'ready' })
  if (order.work === 'add') {
    await Promise.all(Array.from({ length: LANES }, (_, lane) => add(order.first + lane)))
  } else if (order.work === 'import') {
    // Not a kill but an exit, as after an error that nobody caught: threads are stopped wherever they are.
    if (order.exitAfterMs !== undefined) setTimeout(() => process.exit(0), order.exitAfterMs)
    await importFile(order)
  } else {
    await allowlists.delete(listId)
    await catraca.upkeep()
    say({ type: 'swept' })
  }
  process.disconnect()
  await catraca.close()
}

const [directory, order] = process.argv.slice(2)
if (process.send !== undefined && order !== undefined) {
  dieOfFailures()
  await main(directory!, JSON.parse(order) as Order)
}
