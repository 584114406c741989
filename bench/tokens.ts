/**
 * The token denylist with many revoked tokens: memory, time to load, and checks per second in one process, of tokens
 * that were not revoked (UUIDs and plain ids, with and without a subject) and of some that were.
 * Arguments: --tokens 1000000 --seconds 2 --rounds 3
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatraca } from '../src/app/open-catraca.js'
import type { TokenQuestion } from '../src/guards/token-denylist/types.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ tokens: 1_000_000, seconds: 2, rounds: 3 })
const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
const open = () =>
  openCatraca({
    store: `embedded:${directory}`,
    sweepIntervalMs: 0,
    embedded: { durability: 'process' },
    // The loops below leave no pause in which memory could be compared.
    tokens: { staleAfterMs: 3_600_000 },
  })
const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}

/** Checks per second of processor time and by the clock, and how many were revoked. */
async function checking(ask: (i: number) => Promise<boolean> | boolean, sync: boolean) {
  let done = 0
  let revoked = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  const end = start + values.seconds * 1000
  while (performance.now() < end) {
    for (let i = 0; i < 4096; i++) {
      const answer = ask(done + i)
      if (sync ? answer : await answer) revoked++
    }
    done += 4096
  }
  const { user, system } = process.cpuUsage(cpu)
  return {
    perSecond: done / ((performance.now() - start) / 1000),
    perCpuSecond: done / ((user + system) / 1e6),
    revoked,
  }
}

try {
  const revoked = Array.from({ length: values.tokens }, () => randomUUID())
  const expiresAt = new Date(Date.now() + 24 * 3_600_000)
  const writer = await open()
  const writingFrom = performance.now()
  await writer.tokens.revokeAll(revoked.map((jti) => ({ jti, expiresAt })))
  figures['revoked in bulk/s'] = values.tokens / ((performance.now() - writingFrom) / 1000)
  await writer.close()

  const { tokens, close } = await open()
  const loadingFrom = performance.now()
  await tokens.warmUp()
  figures['loaded in, ms'] = performance.now() - loadingFrom
  const { tokens: held, bytes } = tokens.stats()
  figures['tokens in memory'] = held
  figures['bytes in memory'] = bytes
  figures['bytes per token'] = bytes / held

  const uuids: TokenQuestion[] = Array.from({ length: 100_000 }, () => ({ jti: randomUUID() }))
  const plain: TokenQuestion[] = Array.from({ length: 100_000 }, (_, i) => ({
    jti: `session-${i}-of-a-user`,
  }))
  const issuedAt = new Date()
  const subjects = uuids.map(({ jti }, i) => ({ jti, subject: `user-${i}`, issuedAt }))
  const known: TokenQuestion[] = revoked.slice(0, 100_000).map((jti) => ({ jti }))
  const scenes: [string, TokenQuestion[], boolean][] = [
    ['not revoked, awaited', uuids, false],
    ['not revoked, peek', uuids, true],
    ['not revoked, plain id, awaited', plain, false],
    ['not revoked, with subject, awaited', subjects, false],
    ['revoked, awaited', known, false],
  ]
  for (const [name, questions, sync] of scenes) {
    const ask = sync
      ? (i: number) => tokens.peek(questions[i % questions.length]!)!
      : (i: number) => tokens.isRevoked(questions[i % questions.length]!)
    await checking(ask, sync)
    const rounds = []
    for (let round = 0; round < values.rounds; round++) rounds.push(await checking(ask, sync))
    figures[`${name}/s`] = median(rounds.map(({ perSecond }) => perSecond))
    figures[`${name}, per second of processor`] = median(rounds.map(({ perCpuSecond }) => perCpuSecond))
    if (rounds.some((round) => round.revoked > 0 !== (questions === known)))
      throw new Error(`${name}: wrong answers`)
  }
  figures['asked of the store'] = tokens.stats().fromStore
  ratios['not revoked, awaited / 1,000,000 a second'] = figures['not revoked, awaited/s']! / 1_000_000
  await close()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
report({ name: 'tokens', rounds: values.rounds, setting: values, figures, ratios })
