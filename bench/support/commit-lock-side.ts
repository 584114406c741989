/** One side of the measurement of the commit lock, in a process of its own: tells its figure and ends. */
import { openCatraca } from '../../src/app/open-catraca.js'
import { newFixa } from '../../src/conformance/support.js'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { Environment } from '../../src/engines/embedded/lmdb/environment.js'
import { createGate } from '../../src/engines/embedded/lmdb/exit-gate.js'

export type Side = {
  directory: string
  isLocked: boolean
  seconds: number
  work: 'commit' | 'commit to disk' | 'add' | 'acquire' | 'open' | 'write until killed'
}

const { directory, isLocked, seconds, work } = JSON.parse(process.argv[2]!) as Side
const MIB = 1024 * 1024

/** One row in each transaction: the least that a commit can be. */
function commits(durability: 'disk' | 'process'): () => void {
  const settings = { minFreeBytes: 64 * MIB, maxLogBytes: 16 * MIB, gate: createGate(), durability }
  const environment = Environment.open({ ...settings, directory, isShared: isLocked })
  let n = 0
  return () => environment.writeNow(() => environment.uses.putSync(`list${n++ % 1000}`, String(n)))
}

/** A temporary store differs from one in a directory by the lock alone. */
const engine = () => openEmbedded(isLocked ? { directory, durability: 'process' } : {})

async function adds(): Promise<() => Promise<unknown>> {
  const { allowlists } = engine()
  await newFixa(allowlists, 'list')
  let n = 0
  return () => allowlists.members.add('list', `customer${n++}`, {}, Date.now())
}

async function acquires(): Promise<() => Promise<unknown>> {
  const catraca = await openCatraca({
    store: isLocked ? `embedded:${directory}` : 'memory:',
    sweepIntervalMs: 0,
  })
  const limit = { capacity: 1_000_000_000, refillPeriodSeconds: 60 }
  await catraca.limits.setConfig({ level: 'system', resource: 'bench' }, { limits: { rpm: limit } })
  let n = 0
  return () => catraca.limits.acquire({ entity: `entity${n++ % 1000}`, resource: 'bench' })
}

async function rate(call: () => unknown, inFlight: number): Promise<number> {
  const measure = async (ms: number): Promise<number> => {
    let done = 0
    const startedAt = performance.now()
    const lane = async (): Promise<void> => {
      for (; performance.now() - startedAt < ms; done++) await call()
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    return (1000 * done) / (performance.now() - startedAt)
  }
  await measure(500)
  return measure(seconds * 1000)
}

async function opening(): Promise<number> {
  const startedAt = performance.now()
  const opened = openEmbedded({ directory })
  const ms = performance.now() - startedAt
  await opened.close()
  return ms
}

const figure = {
  commit: () => rate(commits('process'), 1),
  'commit to disk': () => rate(commits('disk'), 1),
  add: async () => rate(await adds(), 64),
  acquire: async () => rate(await acquires(), 64),
  open: opening,
  'write until killed': async () => {
    const call = commits('process')
    process.send!(0)
    for (;;) for (let i = 0; i < 100; i++) call()
  },
}[work]
process.send!(await figure(), () => process.exit(0))
