/**
 * What the commit lock of the embedded store costs (docs/adr/0028-commit-lock.md): commits, adds and acquires with it and
 * without it, and how long it takes to open a store that nobody else uses, or that another process writes to all the time.
 * Arguments: --seconds 2 --rounds 7 --opens 15
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mainDirectory } from '../src/engines/embedded/lmdb/store-directory.js'
import { numberArguments } from './support/arguments.js'
import type { Side } from './support/commit-lock-side.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ seconds: 2, rounds: 7, opens: 15 })
const PROGRAM = fileURLToPath(new URL('./support/commit-lock-side.js', import.meta.url))
const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}

function start(side: Omit<Side, 'seconds'>): ChildProcess {
  return fork(PROGRAM, [JSON.stringify({ ...side, seconds: values.seconds })], { execArgv: [] })
}

async function figureOf(side: Omit<Side, 'seconds'>): Promise<number> {
  const child = start(side)
  const [[figure]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return figure as number
}

async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** In turns, each side in a process and a directory of its own. */
async function compare(work: Side['work']): Promise<void> {
  const rates = { without: [] as number[], with: [] as number[] }
  for (let round = 0; round < values.rounds; round++) {
    const sides = [false, true]
    for (const isLocked of round % 2 === 0 ? sides : sides.reverse()) {
      const rate = await inDirectory((directory) => figureOf({ directory, isLocked, work }))
      rates[isLocked ? 'with' : 'without'].push(rate)
    }
  }
  figures[`${work}/s without the lock`] = median(rates.without)
  figures[`${work}/s with the lock`] = median(rates.with)
  ratios[`${work}: with ÷ without`] = median(rates.with.map((rate, i) => rate / rates.without[i]!))
}

async function openings(directory: string): Promise<number> {
  const found: number[] = []
  for (let i = 0; i < values.opens; i++)
    found.push(await figureOf({ directory, isLocked: true, work: 'open' }))
  return median(found)
}

for (const work of ['commit', 'commit to disk', 'add', 'acquire'] as const) await compare(work)
await inDirectory(async (directory) => {
  await figureOf({ directory, isLocked: true, work: 'open' })
  figures['opening, nobody else there, ms'] = await openings(directory)
  const writer = start({ directory: mainDirectory(directory), isLocked: true, work: 'write until killed' })
  await once(writer, 'message')
  figures['opening, beside a busy writer, ms'] = await openings(directory)
  writer.kill('SIGKILL')
  await once(writer, 'exit')
})
report({ name: 'commit-lock', rounds: values.rounds, setting: values, figures, ratios })
