/**
 * One process writes, another one checks from memory. With the token of a write no check may miss it; without it
 * the delay is measured, from the acknowledgement to the first check that sees it.
 * Arguments: --seconds 60 --members 200000
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import type { Written } from '../support/freshness-writer.js'
import { demand, type Figures, inTemporaryDirectory, lines, whenStarted } from '../support/proof.js'
import { delayFigures } from '../support/timed-changes.js'

const SIZES = { seconds: 60, members: 200_000 }
const WRITER = fileURLToPath(new URL('../support/freshness-writer.js', import.meta.url))

export function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  return inTemporaryDirectory(async (directory) => {
    const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
    try {
      await catraca.allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
      const ids = Array.from({ length: sizes.members }, (_, i) => customer(i))
      await catraca.allowlists.import('a', lines(ids), { format: 'text' })
      await catraca.allowlists.rebuild('a')
      return await race(catraca, directory, sizes.seconds)
    } finally {
      await catraca.close()
    }
  })
}

async function race(catraca: Catraca, directory: string, seconds: number): Promise<Figures> {
  const delays: number[] = []
  let missed = 0
  const before = catraca.stats().checks.store
  const writer = fork(WRITER, [directory, String(seconds)], { execArgv: [] })
  let checking = Promise.resolve()
  writer.on('message', (written: Written) => {
    checking = checking.then(async () => {
      const expected = written.removed ? 'NOT_MEMBER' : 'MEMBER'
      const reason = async (options?: { atLeast: string }) =>
        (await catraca.allowlists.check(written.id, ['a'], options)).results[0]!.reason
      let seen = await reason()
      while (seen !== expected) {
        await new Promise((resolve) => setImmediate(resolve))
        seen = await reason()
      }
      delays.push(performance.timeOrigin + performance.now() - written.at)
      if ((await reason({ atLeast: written.token })) !== expected) missed++
      writer.send('next')
    })
  })
  const code = await new Promise((resolve) => writer.once('exit', resolve))
  await checking
  demand(code === 0, `the writer ended with ${code}`)
  demand(missed === 0, `${missed} checks missed the write whose token they carried`)
  demand(delays.length > 10, 'writes were seen')
  return {
    writes: delays.length,
    ...delayFigures(delays),
    checksOfTheStore: catraca.stats().checks.store - before,
  }
}

await whenStarted(import.meta.url, 'freshness', SIZES, run)
