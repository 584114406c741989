import type { Command } from 'commander'
import type { ReshardStatus } from '../../guards/allowlist/types.js'
import { count, note } from '../output/print.js'
import { printList } from './lists.js'
import { wholeNumber } from './support/parse.js'
import { changeCommand, inSession } from './support/session.js'

const TOLD_EVERY_MS = 1000

export function addReshardCommand(allowlist: Command): void {
  changeCommand(
    allowlist,
    'reshard <id>',
    'move an allowlist to another number of shards, while checks continue',
  )
    .requiredOption('--shards <count>', 'number of shards', wholeNumber)
    .action(
      inSession(async ({ allowlists, json }, id: string, flags: { shards: number }) => {
        const stop = new AbortController()
        process.once('SIGINT', () => stop.abort(new Error('stopped; the allowlist stays as it was')))
        const onProgress = json ? () => {} : printProgress()
        printList(await allowlists.reshard(id, flags.shards, { signal: stop.signal, onProgress }), json)
      }),
    )
}

/** Prints only a new phase, or once a second. */
function printProgress(): (status: ReshardStatus) => void {
  let phase = ''
  let toldMs = 0
  return ({ allowlistId, moving }) => {
    if (moving === undefined || (moving.phase === phase && performance.now() - toldMs < TOLD_EVERY_MS)) return
    phase = moving.phase
    toldMs = performance.now()
    note(`${allowlistId}: ${phase}, ${count(moving.copied)} of ${count(moving.total)} customers`)
  }
}
