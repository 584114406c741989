import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { ERROR_CODES } from '../../src/core/errors.js'
import { loadConsoleSource } from '../support/console-source.js'
import { failure } from '../support/failure.js'
import { openPatiently } from '../support/patient.js'

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

interface Format {
  makeFormat(language: string): { rate(value: number): string }
}

describe('figures in words', () => {
  it('have the digits that tell the lines of a chart apart', async () => {
    const { makeFormat } = await loadConsoleSource<Format>('texts/format.ts')
    const { rate } = makeFormat('en')
    assert.deepEqual([0, 0.025, 0.25, 0.5, 0.75, 1.25, 7.5, 12.5, 1250].map(rate), [
      '0',
      '0.025',
      '0.25',
      '0.5',
      '0.75',
      '1.25',
      '7.5',
      '12.5',
      '1,250',
    ])
    assert.equal(makeFormat('pt-BR').rate(0.25), '0,25')
  })
})

interface ServerWords {
  speakAs(language: string): void
  problemWords(code: string, message: string): string
  fieldWords(message: string): string
}

describe('what the server says, in Portuguese', () => {
  it('has words for every code, and for what the addresses of pages can be refused for', async () => {
    const words = await loadConsoleSource<ServerWords>('texts/server-words.ts')
    words.speakAs('pt-BR')
    for (const code of Object.keys(ERROR_CODES)) {
      const said = words.problemWords(code, 'said by the server')
      assert.ok(said !== 'said by the server' && said !== '', code)
    }
    assert.match(
      words.problemWords('STORE_CORRUPT', 'audit:log is a set'),
      /^O armazenamento.*: audit:log is a set$/,
    )
    const catraca = await openPatiently({ store: 'memory:' })
    try {
      const refused: [Promise<unknown>, RegExp][] = [
        [catraca.audit.list({ target: 'vip' }), /^deve ser TIPO:ID/],
        [catraca.audit.list({ action: 'x y' }), /^deve ser uma ação/],
        [catraca.allowlists.list({ type: 'X' as 'FIXA' }), /^deve ser FIXA/],
        [catraca.allowlists.list({ order: 'up' as 'asc' }), /^deve ser asc/],
      ]
      for (const [call, expected] of refused) {
        const { errors } = await failure(call, 'INVALID_INPUT')
        assert.match(words.fieldWords(errors![0]!.message), expected)
      }
    } finally {
      await catraca.close()
    }
  })
})
