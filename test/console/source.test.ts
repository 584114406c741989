import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { loadConsoleSource } from '../support/console-source.js'

interface ServerClock {
  hearServerTime(date: string | null, askedMs: number, receivedMs: number): void
  serverNow(): number
}

describe('the clock of the server, as the console hears it', () => {
  it('is told by the dates of answers, to a fraction of a second', async (t) => {
    const { hearServerTime, serverNow } = await loadConsoleSource<ServerClock>('api/server-clock.ts')
    const browserMs = Date.parse('2026-11-16T12:05:00.000Z')
    mock.timers.enable({ apis: ['Date'], now: browserMs })
    t.after(() => mock.timers.reset())
    const asBrowser = serverNow()
    assert.equal(asBrowser, browserMs, 'without an answer')
    hearServerTime(null, browserMs, browserMs)
    hearServerTime('Mon, 16 Nov 2026 12:05:00 GMT', browserMs - 30, browserMs)
    assert.equal(serverNow(), browserMs, 'nothing contradicts the browser')
    // The server is five minutes and 0.4 s behind; answers take 20 ms.
    const ask = (afterMs: number) => {
      const received = browserMs + afterMs
      const told = new Date(received - 300_400 - 10).toUTCString()
      mock.timers.setTime(received)
      hearServerTime(told, received - 20, received)
    }
    ask(60_000)
    assert.ok(Math.abs(serverNow() - (browserMs + 60_000 - 300_400)) <= 1000, 'one answer')
    for (let i = 1; i <= 10; i++) ask(60_000 + i * 1130)
    const truth = browserMs + 60_000 + 11_300 - 300_400
    assert.ok(Math.abs(serverNow() - truth) <= 200, `${serverNow() - truth} ms off`)
  })
})
