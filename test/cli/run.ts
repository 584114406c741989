import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Answer, Order } from '../support/command-host.js'
import { PATIENCE_MS } from '../support/patient.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const HOST = fileURLToPath(new URL('../support/command-host.js', import.meta.url))

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  /** What the command finds on its standard input. */
  input?: string
  /** How many files it may open. */
  descriptors?: number
}

/** A command that runs, what it has said so far, and its end. */
export interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Resolves with the match as soon as the command has said so; fails when it ends before. */
  said(pattern: RegExp, where?: 'stdout' | 'stderr'): Promise<RegExpExecArray>
}

/** Settings of commands and servers, where a test says nothing else: a busy machine is no engine that does not answer. */
const PATIENT = Object.fromEntries(
  [
    ...['LIMITS', 'IDEMPOTENCY', 'TOKENS', 'CODES', 'LOCKS', 'CACHE', 'EMBEDDED_WRITE'],
    ...['REDIS_CONNECT', 'REDIS_COMMAND', 'DYNAMODB_READ', 'DYNAMODB_WRITE'],
  ].map((name) => [`CATRACA_${name}_TIMEOUT_MS`, String(PATIENCE_MS)]),
)

/** What a failed test left behind must neither outlive the tests nor keep them from ending. */
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
})

export function start(args: string[], { env = {}, cwd, input, descriptors }: RunOptions = {}): Running {
  const command = [process.execPath, MAIN, ...args]
  const limited = ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, ...command]
  const [file, ...rest] = descriptors === undefined ? command : limited
  const child = spawn(file!, rest, {
    cwd,
    // Nothing of the surroundings: a variable of whoever runs the tests must not decide them.
    env: { PATH: process.env.PATH ?? '', ...PATIENT, ...env },
  })
  running.add(child)
  child.on('close', () => running.delete(child))
  const output = { stdout: '', stderr: '' }
  for (const where of ['stdout', 'stderr'] as const) {
    child[where].on('data', (chunk) => {
      output[where] += chunk
    })
  }
  child.stdin.on('error', () => {})
  if (input !== undefined) child.stdin.end(input)
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))
  const said: Running['said'] = (pattern, where = 'stderr') =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output[where])
        if (match !== null) resolve(match)
      }
      child[where].on('data', look)
      look()
      const fail = (how: string) => reject(new Error(`${how} without saying ${pattern}:\n${output[where]}`))
      ended.then(() => fail('ended'))
      setTimeout(() => fail('waited'), PATIENCE_MS).unref()
    })
  return { child, ended, said }
}

/** Runs a command in a process of its own. */
export function catraca(args: string[], options: RunOptions = {}): Promise<Ended> {
  return start(args, { input: '', ...options }).ended
}

let host: ChildProcess | undefined
/** What was asked of the host and not yet answered, by its number. */
const asked = new Map<number, (answer: Answer) => void>()
let questions = 0

/**
 * Runs a command in a process that stays for all commands of this file, one after the other: to start a process takes
 * far longer than most commands. For what a command says and does; whether it ends by itself, and what it does with
 * signals and standard input, only a process of its own can tell.
 */
export function command(args: string[], { env = {}, cwd }: Omit<RunOptions, 'input'> = {}): Promise<Ended> {
  host ??= startHost()
  const id = questions++
  host.send({ id, args, cwd, env: { ...PATIENT, ...env } } satisfies Order)
  return new Promise((resolve) => {
    asked.set(id, ({ code, stdout, stderr }) => resolve({ code, signal: null, stdout, stderr }))
  })
}

function startHost(): ChildProcess {
  const env = { PATH: process.env.PATH ?? '' }
  const child = fork(HOST, { env, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  running.add(child)
  child.on('message', (answer: Answer) => {
    asked.get(answer.id)?.(answer)
    asked.delete(answer.id)
  })
  child.once('exit', (code) => {
    running.delete(child)
    host = undefined
    for (const [id, answer] of asked)
      answer({ id, code: code ?? -1, stdout: '', stderr: 'the host of commands ended' })
  })
  return child
}

export interface Served extends Running {
  url: string
  stop(): Promise<Ended>
}

export async function serve(args: string[] = [], options: RunOptions = {}): Promise<Served> {
  const running = start(['serve', '--port', '0', ...args], options)
  const [, url] = await running.said(/listens on (https?:\S+)/)
  return {
    ...running,
    url: url!,
    stop: () => {
      running.child.kill('SIGTERM')
      return running.ended
    },
  }
}

/** A directory of one test; `remove` it afterwards. */
export function scratch(): { path: string; file: (name: string) => string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'catraca-cli-'))
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** So many different customers, the same ones for the same numbers. */
export function customers(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => {
    const hex = ((from + i) * 2_654_435_761).toString(16).padStart(16, '0').slice(-16)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8000-${(from + i).toString(16).padStart(12, '0')}`
  })
}
