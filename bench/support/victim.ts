import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Catraca } from '../../src/app/open-catraca.js'
import type { Allowlist } from '../../src/guards/allowlist/types.js'
import type { Order, Said } from './kill-process.js'
import { demand } from './proof.js'

const PROGRAM = fileURLToPath(new URL('./kill-process.js', import.meta.url))

/** Where the scenes of the kill proof play: a directory that this process works on too, all the while. */
export interface Stage {
  catraca: Catraca
  directory: string
  /** For files of imports, outside the store. */
  files: string
  kills: number
  /** Replaces killed before they switched. */
  undone: number
  /** How long a replace takes from its begin on, as it was last time. */
  replaceMs: number
}

export function fixa({ catraca }: Stage, id: string): Promise<Allowlist> {
  return catraca.allowlists.create({ id, name: id, type: 'FIXA' })
}

/** What a process said before its end. */
export interface Ended {
  said: Said[]
  /** False: it came to the end of its order first. */
  killed: boolean
  /** From ready to the end. */
  elapsedMs: number
}

/** A process that is not killed must have come to its end by then. */
const MAX_LIFE_MS = 120_000

/**
 * Starts a process and kills it so long after it is ready and `begun` has seen what it waits for; without a time, lets
 * it come to its end.
 */
export async function startVictim(
  directory: string,
  order: Order,
  killAfterMs: number | undefined,
  begun: () => Promise<void> = async () => {},
  maxLifeMs = MAX_LIFE_MS,
): Promise<Ended> {
  const child = fork(PROGRAM, [directory, JSON.stringify(order)], { execArgv: [] })
  const said: Said[] = []
  let readyAt = Number.NaN
  let watching: Promise<void> | undefined
  child.on('message', (message: Said) => {
    if (message.type !== 'ready') return void said.push(message)
    readyAt = performance.now()
    watching = begun().then(async () => {
      if (killAfterMs === undefined) return
      await sleep(killAfterMs)
      child.kill('SIGKILL')
    })
    watching.catch(() => child.kill('SIGKILL'))
  })
  let isStuck = false
  const limit = setTimeout(() => {
    isStuck = child.kill('SIGKILL')
  }, maxLifeMs)
  // `disconnect` comes behind everything that was said.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  clearTimeout(limit)
  await watching
  demand(!isStuck, `${order.work}: the process did not end within ${maxLifeMs} ms`)
  for (const message of said) demand(message.type !== 'failed', `${order.work}: ${JSON.stringify(message)}`)
  // Loading a native module in a thread that is being stopped aborts: rough, but an end.
  const isRoughExit = signal === 'SIGABRT' && order.work === 'import' && order.exitAfterMs !== undefined
  demand(
    code === 0 || signal === 'SIGKILL' || isRoughExit,
    `${order.work}: the process failed with ${code ?? signal}`,
  )
  return { said, killed: signal === 'SIGKILL', elapsedMs: performance.now() - readyAt }
}
