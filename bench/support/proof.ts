import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import type { Catraca } from '../../src/app/open-catraca.js'
import { mainDirectory } from '../../src/engines/embedded/lmdb/store-directory.js'
import type { AllowlistsApi } from '../../src/guards/allowlist/api.js'
import { numberArguments } from './arguments.js'
import { report } from './report.js'

/** What a proof found out, with the unit in the name. */
export type Figures = Record<string, number>

/** The product broke a promise. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

export function demand(holds: unknown, message: string): asserts holds {
  if (!holds) throw new Violation(message)
}

/** What a process of a proof says when something went wrong in it. */
export interface Failed {
  type: 'failed'
  message: string
}

/** In a process that a proof has started: tells what went wrong, and dies at once, whatever its threads are at. */
export function dieOfFailures(): void {
  process.on('uncaughtException', (error) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.send!({ type: 'failed', message } satisfies Failed, () => process.kill(process.pid, 'SIGKILL'))
  })
}

type Told<Message, Type> = Extract<Message, { type: Type }>

/** The next message of this type from a process of a proof; rejects when something went wrong in it, or it ended. */
export function heard<Message extends { type: string }, Type extends Message['type']>(
  from: ChildProcess,
  type: Type,
): Promise<Told<Message, Type>> {
  return new Promise((resolve, reject) => {
    const listen = (message: Message | Failed): void => {
      if (message.type === 'failed') settle(() => reject(new Error((message as Failed).message)))
      else if (message.type === type) settle(() => resolve(message as Told<Message, Type>))
    }
    const gone = (code: number | null): void => settle(() => reject(new Error(`a pod ended with ${code}`)))
    const settle = (end: () => void): void => {
      from.off('message', listen)
      from.off('exit', gone)
      end()
    }
    from.on('message', listen)
    from.once('exit', gone)
  })
}

/** Runs a proof with the arguments of the command line, when its module is what the command line started. */
export async function whenStarted<Name extends string>(
  module: string,
  name: string | ((sizes: Record<Name, number>) => string),
  defaults: Record<Name, number>,
  run: (sizes: Record<Name, number>) => Promise<Figures>,
): Promise<void> {
  if (process.argv[1] !== fileURLToPath(module)) return
  const { values } = numberArguments(defaults)
  const kept = typeof name === 'string' ? name : name(values)
  report({ name: `proof-${kept}`, rounds: 1, setting: values, figures: await run(values), ratios: {} })
}

export async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-proof-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const LINES_PER_CHUNK = 2000

/** The body of an import in text format. */
export async function* lines(ids: readonly string[]): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < ids.length; from += LINES_PER_CHUNK) {
    yield Buffer.from(`${ids.slice(from, from + LINES_PER_CHUNK).join('\n')}\n`)
  }
}

export async function pagedMembers(allowlists: AllowlistsApi, listId: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await allowlists.members(listId, {
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { customerId } of page.items) ids.push(customerId)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}

/** Customers asked for one by one; of a larger universe, as many spread over it. */
const MAX_ASKED = 20_000

/**
 * Count, pages, checks and reverse lookup must tell the same of a list at rest. `universe` is every customer that
 * could be in it; returns those that are.
 */
export async function agreedMembers(
  { allowlists }: Catraca,
  listId: string,
  universe: readonly string[],
): Promise<Set<string>> {
  const paged = await pagedMembers(allowlists, listId)
  const members = new Set(paged)
  const { customerCount } = await allowlists.get(listId)
  demand(members.size === paged.length, `${listId}: a page repeats a customer`)
  demand(customerCount === paged.length, `${listId}: counts ${customerCount}, pages hold ${paged.length}`)
  const known = new Set(universe)
  for (const id of members) demand(known.has(id), `${listId}: holds ${id}, which nobody added`)
  const step = Math.max(1, Math.floor(universe.length / MAX_ASKED))
  for (let i = 0; i < universe.length; i += step) {
    const id = universe[i]!
    // None of these calls waits, so without this nothing else in this process would get a turn.
    if (i % 100 < step) await new Promise((resolve) => setImmediate(resolve))
    const { overallAllowed } = await allowlists.check(id, [listId], { consistency: 'strong' })
    demand(overallAllowed === members.has(id), `${listId}: check and pages differ about ${id}`)
    const { items } = await allowlists.listsOf(id)
    const listed = items.some(({ allowlistId }) => allowlistId === listId)
    demand(listed === members.has(id), `${listId}: reverse lookup and pages differ about ${id}`)
  }
  return members
}

export function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id))
}

/** At rest a store holds one row and one reverse row per member, and nothing that waits to be swept. */
export async function demandNoLitter(directory: string, members: number): Promise<void> {
  const root = open({ path: mainDirectory(directory), maxDbs: 32 })
  const rowsIn = (name: string): number => {
    const stats = root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' }).getStats()
    return (stats as { entryCount: number }).entryCount
  }
  try {
    const expected = { members, reverse: members, expiry: 0, sweeps: 0 }
    for (const [name, rows] of Object.entries(expected)) {
      demand(rowsIn(name) === rows, `${rowsIn(name)} rows in ${name} where ${rows} belong`)
    }
  } finally {
    await root.close()
  }
}

export function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)]!
}
