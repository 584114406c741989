/**
 * What starting takes, beside its floors: `catraca --version`, `import 'catraca'`, `catraca serve` on an empty embedded
 * store until it says that it listens, and the memory of that server while nobody calls it. Floors: `node -e 0`, and a
 * bare Fastify server with one route. Each in a process of its own, in turns. On a machine with other work, believe the
 * processor time (in steps of 10 ms) rather than the clock.
 * Arguments: --rounds 7 --idleSeconds 10
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ rounds: 7, idleSeconds: 10 })
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CATRACA = join(ROOT, 'bin', 'catraca.js')
const FASTIFY = `import fastify from 'fastify'
const app = fastify()
app.get('/', async () => ({ ok: true }))
await app.listen({ port: 0, host: '127.0.0.1' })
process.stderr.write('listens on')`
const IMPORT = `const begun = performance.now()
await import('catraca')
process.stdout.write(String(performance.now() - begun))`

/** Milliseconds per clock tick of /proc: the same on all Linux systems that Node runs on. */
const TICK_MS = 10
const rounds: Record<string, number[]> = {}
const note = (name: string, value: number) => (rounds[name] ??= []).push(value)

/** Processor time in ms: of this process's ended children, or of a process that still runs. */
function processorMs(pid: number | 'ended'): number {
  const stat = readFileSync(`/proc/${pid === 'ended' ? 'self' : pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const from = pid === 'ended' ? 13 : 11
  return (Number(fields[from]) + Number(fields[from + 1])) * TICK_MS
}

function start(args: string[]): ChildProcess {
  return spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: {} })
}

async function runOnce(name: string, args: string[]): Promise<string> {
  const [begun, used] = [performance.now(), processorMs('ended')]
  const child = start(args)
  let said = ''
  child.stdout!.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  note(`${name}, ms`, performance.now() - begun)
  note(`${name}, ms of processor`, processorMs('ended') - used)
  return said
}

async function serveOnce(name: string, args: string[]): Promise<void> {
  const begun = performance.now()
  const child = start(args)
  const ended = once(child, 'exit')
  try {
    let said = ''
    for await (const chunk of child.stderr!) {
      said += chunk
      if (said.includes('listens on')) break
    }
    note(`${name}: ready, ms`, performance.now() - begun)
    note(`${name}: ready, ms of processor`, processorMs(child.pid!))
    await sleep(values.idleSeconds * 1000)
    for (const [kind, bytes] of Object.entries(memoryOf(child.pid!)))
      note(`${name}: ${kind} memory, idle, MB`, bytes)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** `resident` includes the program of Node, which all its processes share; `own` does not. */
function memoryOf(pid: number): { resident: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const megabytes = (field: string) =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024) / 1e6
  return { resident: megabytes('Rss'), own: megabytes('Anonymous') }
}

for (let round = 0; round < values.rounds; round++) {
  await runOnce('node -e 0', ['-e', '0'])
  await runOnce('catraca --version', [CATRACA, '--version'])
  const told = await runOnce('process that imports catraca', ['--input-type=module', '-e', IMPORT])
  note("import 'catraca', ms", Number(told))
  await serveOnce('bare Fastify', ['--input-type=module', '-e', FASTIFY])
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  try {
    await serveOnce('serve', [CATRACA, 'serve', '--port', '0', '--store', `embedded:${directory}/data`])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
const figures = Object.fromEntries(Object.entries(rounds).map(([name, all]) => [name, median(all)]))
const over = (one: string, other: string) => figures[one]! / figures[other]!
report({
  name: 'start',
  rounds: values.rounds,
  setting: values,
  figures,
  ratios: {
    'catraca --version ÷ node -e 0, by processor time': over(
      'catraca --version, ms of processor',
      'node -e 0, ms of processor',
    ),
    'resident memory ÷ bare Fastify': over(
      'serve: resident memory, idle, MB',
      'bare Fastify: resident memory, idle, MB',
    ),
  },
})
