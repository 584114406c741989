import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { anonymousBytes } from './memory.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const MEMORY_TELLER = new URL('./memory-teller.js', import.meta.url).href
const START_MS = 60_000
/**
 * Of a process whose memory is watched. The space for young objects of each thread grows to 32 MiB with its work, and
 * allocators keep arenas for threads; both go on growing for many minutes on a machine that is slow, look like a leak,
 * and end by themselves. So they are small from the start. What leaks is elsewhere.
 */
const WATCHED = ['--expose-gc', '--max-semi-space-size=1', '--import', MEMORY_TELLER]
const WATCHED_ENV = { MALLOC_ARENA_MAX: '2' }

/** Of a process, after a collection. */
export interface Memory extends NodeJS.MemoryUsage {
  /** Of its own, without mapped files. */
  anonymousBytes: number
}

/** A command of the product that goes on in a process of its own. */
export interface Served {
  url: string
  pid: number
  /** Only of one that was started to be watched. */
  memory(): Promise<Memory>
  stop(): Promise<void>
}

export interface StartOptions {
  env?: Record<string, string>
  /** Where it may run; on a system without `taskset` anywhere. */
  core?: number
  isWatched?: boolean
}

let canPin: boolean | undefined

function pinned(core: number | undefined, args: string[]): [string, string[]] {
  canPin ??= hasTaskset()
  if (core === undefined || !canPin) return [process.execPath, args]
  return ['taskset', ['-c', String(core), process.execPath, ...args]]
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function launch(args: string[], { env = {}, core, isWatched = false }: StartOptions): ChildProcess {
  const [command, all] = pinned(core, [...(isWatched ? WATCHED : []), MAIN, ...args])
  return spawn(command, all, {
    // Settings of whoever runs the proof must not decide it.
    env: { PATH: process.env.PATH ?? '', ...(isWatched && WATCHED_ENV), ...env },
    stdio: ['ignore', 'pipe', 'pipe', isWatched ? 'ipc' : 'ignore'],
  })
}

/** `catraca serve` or `catraca relay`: ready when it says so. */
async function startCommand(args: string[], ready: RegExp, options: StartOptions): Promise<Served> {
  const child = launch(args, options)
  child.stdout!.resume()
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const give = (why: string) => reject(new Error(`catraca ${args[0]} ${why}: ${said}`))
    const timer = setTimeout(() => give('says nothing'), START_MS)
    child.once('exit', (code) => give(`ended with ${code}`))
    child.stderr!.on('data', (chunk) => {
      said = (said + chunk).slice(-4000)
      const match = ready.exec(said)
      if (match === null) return
      clearTimeout(timer)
      resolve(match[1] ?? '')
    })
  })
  return {
    url,
    pid: child.pid!,
    async memory() {
      const listening = new AbortController()
      const told = once(child, 'message', listening)
      const lost = once(child, 'disconnect', listening)
      for (const one of [told, lost]) one.catch(() => {})
      if (child.connected) child.send('memory')
      const [usage] = ((await Promise.race([told, child.connected ? lost : []])) ?? []) as [
        NodeJS.MemoryUsage?,
      ]
      listening.abort()
      if (usage === undefined)
        throw new Error(`catraca ${args[0]} ended with ${child.exitCode ?? child.signalCode}: ${said}`)
      return { ...usage, anonymousBytes: anonymousBytes(child.pid!) ?? usage.rss }
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const impatient = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await ended
      clearTimeout(impatient)
    },
  }
}

export function startServe(store: string, options: StartOptions = {}): Promise<Served> {
  return startCommand(['serve', '--port', '0', '--store', store], /listens on (http:\S+)/, options)
}

export function startRelayCommand(store: string, options: StartOptions = {}): Promise<Served> {
  return startCommand(['relay', '--store', store], /relays the changes/, options)
}

/** Runs a command to its end and gives what it printed; what it says meanwhile goes to the terminal. */
export async function runCommand(args: string[], options: StartOptions = {}): Promise<string> {
  const child = launch(args, options)
  let printed = ''
  child.stdout!.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr!.pipe(process.stderr)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`catraca ${args.join(' ')} ended with ${code}`)
  return printed
}
