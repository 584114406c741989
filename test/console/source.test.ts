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

interface CsvRows {
  parseRows(text: string): string[][]
  countExtra(rows: readonly string[][]): number
}

describe('the preview of a CSV file', () => {
  it('counts rows with more cells than the first one, of all that it has read', async () => {
    const { parseRows, countExtra } = await loadConsoleSource<CsvRows>('pages/allowlists/upload/csv-rows.ts')
    const rows = Array.from({ length: 300 }, (_, index) => (index === 250 ? 'c250,999' : `c${index}`))
    const read = parseRows(['customerId', ...rows].join('\r\n'))
    assert.equal(read.length, 301)
    assert.equal(countExtra(read), 1)
    assert.equal(countExtra(parseRows('\t\nid;name\n1;"a;b";\n2;b;\n3;c;d\n')), 1)
  })
})
