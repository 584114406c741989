import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run } from '../../bench/proof/open-race.js'

/** The proof of opening of `npm run proof`, small. It throws when something that was acknowledged is missing. */
describe('proof of opening, small', () => {
  it('200 opens beside two processes that write', async () => {
    const sizes = {
      opens: 200,
      stoppedMs: 200,
      opensPerProcess: 22,
      servers: 1,
      restartMs: 2000,
      pauseMs: 20,
      writesEvery: 11,
    }
    const figures = await run(sizes)
    const sum = (what: string): number =>
      Object.entries(figures).reduce(
        (total, [name, count]) => (name.endsWith(what) ? total + count : total),
        0,
      )
    assert.ok(sum(': opens') >= 200, JSON.stringify(figures))
    for (const what of ['members', 'acquired', 'requests']) assert.ok(sum(`: ${what}`) > 100, what)
  })
})
