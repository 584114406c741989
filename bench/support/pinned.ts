import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A program of this folder, running on one core. It sends `{ url }` when it listens. */
export interface PinnedServer {
  url: string
  /** Processor time used so far, in microseconds. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

export async function startPinned(core: number, program: string, args: string[]): Promise<PinnedServer> {
  const script = fileURLToPath(new URL(`./${program}`, import.meta.url))
  const child = spawn('taskset', ['-c', String(core), process.execPath, script, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { url } = (await answer(child)) as { url: string }
  return {
    url,
    async cpuMicros() {
      const answered = answer(child)
      child.send('cpu')
      return (await answered) as number
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('the program ended before it answered'))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })
}

/** The other end, called in the program itself. */
export function serveParent(url: string): void {
  process.send?.({ url })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  // An orphan would disturb whatever is measured next.
  process.on('disconnect', () => process.exit(0))
}

export interface Load {
  requestsPerSecond: number
  requests: number
  p99Ms: number
}

/** Runs `wrk` on one core. Anything but success among the answers makes the round worthless. */
export async function loadByWrk(
  core: number,
  seconds: number,
  url: string,
  script: URL,
  args: string[],
): Promise<Load> {
  const command = [
    '-c',
    String(core),
    'wrk',
    '-t1',
    '-c64',
    `-d${seconds}s`,
    '--latency',
    '-s',
    fileURLToPath(script),
  ]
  const { stdout } = await promisify(execFile)('taskset', [...command, url, '--', ...args])
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk saw failures:\n${stdout}`)
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    p99Ms: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(stdout)),
  }
}

function milliseconds(match: RegExpExecArray | null): number {
  const scale = { us: 0.001, ms: 1, s: 1000 }[match?.[2] ?? ''] ?? Number.NaN
  return Number(match?.[1]) * scale
}
