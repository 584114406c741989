import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { identifier } from '../../../src/core/identifiers.js'
import { CsvReader } from '../../../src/guards/allowlist/import/csv.js'
import { NdjsonReader } from '../../../src/guards/allowlist/import/ndjson.js'
import type { RowSink } from '../../../src/guards/allowlist/import/rows.js'
import { TextReader } from '../../../src/guards/allowlist/import/text.js'
import type { MemberAttributes } from '../../../src/guards/allowlist/port.js'

const READERS = { csv: CsvReader, ndjson: NdjsonReader, text: TextReader }
const UUID = '6f9619ff-8b86-d011-b42d-00cf4fc964ff'

class Rows implements RowSink {
  full = false
  taken: unknown[] = []
  rejected: string[] = []
  withExtraCells = 0

  add(source: Uint8Array, start: number, end: number, attributes?: MemberAttributes): boolean {
    const id = Buffer.from(source.subarray(start, end)).toString('latin1')
    try {
      identifier('customerId', id)
    } catch {
      return false
    }
    this.taken.push(attributes === undefined ? id : { id, ...attributes })
    return true
  }

  reject(line: number, message: string): void {
    assert.ok(message.length <= 300, message)
    this.rejected.push(`${line} ${message}`)
  }

  noteExtraCells(): void {
    this.withExtraCells++
  }
}

interface Reading {
  maxRowBytes?: number
  takesExpiry?: boolean
  column?: string
  size?: number
}

function read(format: keyof typeof READERS, input: string | Uint8Array, reading: Reading = {}): Rows {
  const { maxRowBytes = 65_536, takesExpiry = true, column, size } = reading
  const rows = new Rows()
  const reader = new READERS[format](rows, { maxRowBytes, takesExpiry, ...(column && { column }) })
  const bytes = new Uint8Array(Buffer.from(input))
  const step = size ?? Math.max(bytes.length, 1)
  for (let at = 0; at < bytes.length; at += step) reader.read(bytes.slice(at, at + step), 0)
  reader.end()
  return rows
}

const taken = (format: keyof typeof READERS, input: string): unknown[] => {
  const { taken: ids, rejected } = read(format, input)
  assert.deepEqual(rejected, [])
  return ids
}

test('csv and ndjson: metadata with an integer that would be changed is rejected', () => {
  const metadata = '{"id":9007199254740993}'
  const rule = 'metadata.id must be an integer below 2^53: give larger ones as text'
  const csv = read('csv', `customerId;metadata\nann;${metadata}\nbob;{"id":9007199254740991}\n`)
  assert.deepEqual(csv.rejected, [`2 ${rule}`])
  assert.deepEqual(csv.taken, [{ id: 'bob', metadata: { id: 9007199254740991 } }])
  assert.deepEqual(read('ndjson', `{"customerId":"ann","metadata":${metadata}}\n`).rejected, [`1 ${rule}`])
})

test('csv: the column with the ids can be named or numbered', () => {
  const ids = (input: string, column: string) => read('csv', input, { column }).taken
  assert.deepEqual(ids('id,CPF\n1,a\n2,b', 'cpf'), ['a', 'b'])
  assert.deepEqual(ids('id;cpf;extra\n1;a;x\n2;b;y;z', '2'), ['a', 'b'])
  // No heading that is known: a number leaves the first row a customer, a name makes it a header.
  assert.deepEqual(ids('nome,cpf\n1,a', '2'), ['cpf', 'a'])
  assert.deepEqual(ids('nome,cpf,addedBy\n1,a,me', 'cpf'), [{ id: 'a', addedBy: 'me' }])
  assert.throws(() => ids('id,cpf\n1,a', 'rg'), /column is not in the first row: rg/)
  assert.throws(() => ids('id,cpf\n1,a', '3'), /column is not in the first row: 3/)
  assert.throws(() => ids('cpf,cpf\n1,a', 'cpf'), /names the column cpf twice/)
})

test('text: one id per line, blank lines and space around ignored', () => {
  assert.deepEqual(taken('text', '\ufeffa\r\n\n  b\t\r\n \t\nc'), ['a', 'b', 'c'])
  assert.deepEqual(taken('text', ''), [])
  assert.deepEqual(taken('text', '\n\n'), [])
  assert.deepEqual(taken('text', `${UUID.toUpperCase()}\n`), [UUID.toUpperCase()])
})

test('a row that holds no id is rejected with the line it stands on', () => {
  const bad = [
    'a b',
    'a/b',
    'a#b',
    'x'.repeat(257),
    '.',
    '..',
    'ação',
    '😀',
    'a\u0000b',
    '\u00a0',
    'a,b',
    '"a"',
  ]
  for (const id of bad) {
    const { taken: ids, rejected } = read('text', `ok\n\n${id}\nfine`)
    assert.deepEqual(ids, ['ok', 'fine'], id)
    assert.match(rejected.join('|'), /^3 customerId must be 1 to 256 characters[^|]*$/, id)
  }
  assert.deepEqual(taken('text', '__proto__\nconstructor\n'), ['__proto__', 'constructor'])
})

test('csv: byte order mark, CR LF, quotes and a header', () => {
  const input = `\ufeff"Name","CustomerID",other\r\n"Silva, ""Zé""\r\nda","a",1\r\nx,"b","y\nz"\r\n,c,\r\n`
  assert.deepEqual(taken('csv', input), ['a', 'b', 'c'])
})

test('csv: without a header the first column is the id', () => {
  assert.deepEqual(taken('csv', 'a,1\nb,2'), ['a', 'b'])
  assert.deepEqual(taken('csv', 'a\nb\n'), ['a', 'b'])
  assert.deepEqual(taken('csv', '"a"\n"b"\n'), ['a', 'b'])
  for (const word of ['id', 'ID', 'uuid', 'customer_id', ' Customer ID ', '"id"']) {
    assert.deepEqual(taken('csv', `${word}\na\nid\n`), ['a', 'id'], word)
  }
})

test('csv: the separator is the first one that the first row uses', () => {
  assert.deepEqual(taken('csv', 'x;customerId\n1,5;a\n2;b'), ['a', 'b'])
  assert.deepEqual(taken('csv', 'x\tcustomerId\n1;5\ta\n'), ['a'])
  assert.deepEqual(taken('csv', '\t \n\na,1\nb\t,2'), ['a', 'b'])
  assert.deepEqual(taken('csv', '"q,q";customerId\n1;a'), ['a'])
})

test('csv: attributes are read from their columns', () => {
  const header = 'ADDEDBY,customerId,metadata,expiresAt,addedAt\n'
  const rows = `ops,a,"{""k"":""v;,""}",2030-01-01T00:00:00Z,ignored\n,b,,,\n" x ",c\n`
  assert.deepEqual(taken('csv', header + rows), [
    { id: 'a', addedBy: 'ops', metadata: { k: 'v;,' }, expiresAt: Date.UTC(2030, 0, 1) },
    'b',
    { id: 'c', addedBy: ' x ' },
  ])
})

test('csv: what is wrong with a row names the field and the line where the row begins', () => {
  const { taken: ids, rejected } = read(
    'csv',
    [
      'customerId,addedBy,expiresAt,metadata',
      '"a',
      'b",x,,',
      ',x,,',
      'c,"a\u0007",2030,[]',
      `d,,,"{""a"":""${'x'.repeat(5000)}""}"`,
      'e,,,{bad',
      '"f"x,,,',
      'g,,,"{""__proto__"":{}}"',
      'ok,,,',
      '"never closed,,,',
      'h',
    ].join('\n'),
  )
  assert.deepEqual(ids, ['ok'])
  const shorter = rejected.map((each) => each.replace(/ must.*| has | is /, ' … ').slice(0, 60))
  assert.deepEqual(
    shorter.map((each) => each.split(' ').slice(0, 2).join(' ')),
    [
      '2 customerId',
      '4 customerId',
      '5 addedBy',
      '6 metadata',
      '7 metadata',
      '8 row',
      '9 metadata',
      '11 row',
    ],
  )
  assert.match(rejected[2]!, /addedBy .*; expiresAt .*; metadata /)
  assert.match(rejected[5]!, /text behind a closing quote/)
  assert.match(rejected[7]!, /never closed/)
})

test('csv: invalid UTF-8 in a wanted column is rejected, elsewhere it does not matter', () => {
  const bytes = Buffer.concat([
    Buffer.from('customerId,addedBy,x\na,'),
    Buffer.from([0xff]),
    Buffer.from(',\nb,,'),
    Buffer.from([0xfe]),
  ])
  const { taken: ids, rejected } = read('csv', bytes)
  assert.deepEqual(ids, ['b'])
  assert.match(rejected[0]!, /^2 addedBy/)
})

test('csv: a NUL is not a separator, and a header that names a column twice is refused', () => {
  assert.equal(read('csv', 'a\u0000b\n').rejected.length, 1)
  assert.throws(() => read('csv', 'customerId,customerid\na,b'), /names the column customerId twice/)
})

test('ndjson: strings and objects', () => {
  const lines = [
    '\ufeff"a"',
    '',
    '{"customerId":"b"}',
    ' { "customerId" : "c", "addedBy": "ops", "metadata": {"k": 1}, "expiresAt": "2030-01-01T00:00:00Z" } \r',
    '"\\u0064"',
    '{"customerId":"e","addedAt":"2020-01-01T00:00:00.000Z"}',
    '{"customerId":"__proto__"}',
  ]
  assert.deepEqual(taken('ndjson', lines.join('\n')), [
    'a',
    'b',
    { id: 'c', addedBy: 'ops', metadata: { k: 1 }, expiresAt: Date.UTC(2030, 0, 1) },
    'd',
    'e',
    '__proto__',
  ])
})

test('ndjson: everything else is rejected', () => {
  const bad: Record<string, RegExp> = {
    '{"customerId":"a","color":"red"}': /^1 color is not a known field/,
    '{"customerId":"a","__proto__":{"addedBy":"x"}}': /^1 __proto__ is not a known field/,
    '{"__proto__":{"customerId":"a"}}': /^1 customerId must be a string/,
    '{"customerId":7}': /^1 customerId must be a string/,
    '{}': /^1 customerId must be a string/,
    '["a"]': /^1 row must be a JSON string, or an object/,
    null: /^1 row must be a JSON string, or an object/,
    '"a': /^1 row is not valid JSON/,
    '{"customerId":"a"': /^1 row is not valid JSON/,
    '{"customerId":"a b"}': /^1 customerId must be 1 to 256/,
    '{"customerId":""}': /^1 customerId must be 1 to 256/,
    '""': /^1 customerId must be 1 to 256/,
    '{"customerId":"\\ud800"}': /^1 customerId must be 1 to 256/,
    '{"customerId":"a","metadata":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{}}}}}}}}}}':
      /^1 metadata .*8 deep/,
  }
  for (const [line, expected] of Object.entries(bad)) {
    const { taken: ids, rejected } = read('ndjson', line)
    assert.deepEqual(ids, [], line)
    assert.match(rejected.join('|'), expected, line)
  }
  assert.match(read('ndjson', Buffer.from([0x22, 0xff, 0x22])).rejected[0]!, /^1 row is not valid UTF-8/)
  assert.match(read('ndjson', '['.repeat(60_000)).rejected[0]!, /^1 row is not valid JSON/)
})

test('a list whose members never expire takes no expiresAt', () => {
  const line = '{"customerId":"a","expiresAt":"2030-01-01T00:00:00Z"}'
  assert.match(read('ndjson', line, { takesExpiry: false }).rejected[0]!, /expiresAt is not taken/)
  assert.equal(read('ndjson', line).rejected.length, 0)
})

test('a row that is too long is skipped to its end, wherever the chunks are cut', () => {
  for (const size of [1, 3, 19, 20, 21, 22, 1000]) {
    for (const format of ['text', 'csv', 'ndjson'] as const) {
      const id = (text: string): string => (format === 'ndjson' ? `"${text}"` : text)
      const input = `${id('a')}\n${id('x'.repeat(21))}\n${id('b')}\n${'y'.repeat(100)}`
      const { taken: ids, rejected } = read(format, input, { maxRowBytes: 20, size })
      assert.deepEqual(ids, ['a', 'b'])
      assert.deepEqual(rejected, ['2 row is longer than 20 bytes', '4 row is longer than 20 bytes'])
    }
    const quoted = read('csv', `a\nz,"${'\n'.repeat(30)}"\nb\nc,"${'\n'.repeat(30)}`, {
      maxRowBytes: 20,
      size,
    })
    assert.deepEqual(quoted.taken, ['a', 'b'])
    assert.deepEqual(quoted.rejected, ['2 row is longer than 20 bytes', '34 row is longer than 20 bytes'])
  }
  assert.deepEqual(read('text', 'x'.repeat(20), { maxRowBytes: 20 }).taken, ['x'.repeat(20)])
})

test('what only begins like a byte order mark belongs to the first row', () => {
  for (const size of [1, 2, 100]) {
    const { taken: ids, rejected } = read('text', Buffer.from([0xef, 0xbb, 0x61, 0x0a, 0x62]), { size })
    assert.deepEqual(ids, ['b'])
    assert.equal(rejected.length, 1)
    assert.equal(read('text', Buffer.from([0xef, 0xbb]), { size }).rejected.length, 1)
  }
})

/** What a person would call the cells of a CSV file, without any streaming. */
const cell = fc.oneof(
  fc.stringMatching(/^[a-z0-9]{1,5}$/),
  fc.constantFrom('', 'a b', 'x"y', 'l\nm', 'p,q', '"', 'ü', '""', ' s ', 'r\r\nt', '\r'),
)

test('csv: any cells, quoted where they must be, come back whatever the chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, fc.stringMatching(/^[a-z0-9]{1,8}$/), fc.boolean(), cell), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom(',', ';', '\t'),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      (rows, newline, separator, size, endsWithNewline) => {
        const quote = (text: string, must: boolean): string =>
          must || /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
        const lines = rows.map(([before, id, quotesId, after]) =>
          [quote(before, false), quote(id, quotesId), quote(after, false)].join(separator),
        )
        const input =
          [['x', 'customerId', 'y'].join(separator), ...lines].join(newline) +
          (endsWithNewline ? newline : '')
        const { taken: ids, rejected } = read('csv', input, { size })
        assert.deepEqual(rejected, [])
        assert.deepEqual(
          ids,
          rows.map(([, id]) => id),
        )
      },
    ),
  )
})

test('any bytes at all: the same rows whatever the chunks, and nothing is taken that is no id', () => {
  const byte = fc.oneof(
    fc.constantFrom(0x0a, 0x0d, 0x22, 0x2c, 0x61, 0x62, 0x20, 0x7b, 0xef, 0x00),
    fc.nat(255),
  )
  fc.assert(
    fc.property(
      fc.constantFrom<keyof typeof READERS>('csv', 'ndjson', 'text'),
      fc.array(byte, { maxLength: 60 }),
      fc.integer({ min: 1, max: 10 }),
      (format, bytes, size) => {
        const whole = read(format, Uint8Array.from(bytes), { maxRowBytes: 16 })
        const cut = read(format, Uint8Array.from(bytes), { maxRowBytes: 16, size })
        assert.deepEqual(cut, whole)
      },
    ),
    { numRuns: 1000 },
  )
})

test('csv: rows with more cells than the first one are counted, where a text is lost by it', () => {
  const extra = (input: string, reading?: Reading) => read('csv', input, reading).withExtraCells
  assert.equal(extra('customerId\na\nb,\nc,,\r\nd, \r\n'), 0, 'separators alone lose nothing')
  assert.equal(extra('customerId\na\nb,999\nc\nd,,x'), 2)
  assert.equal(extra('customerId,addedBy\n"a","x,y"\nb,x,y\n"c",x,"y"z\n'), 2)
  assert.equal(extra('a\nb;1\n'), 0, 'no separator was known')
  assert.equal(extra('a;1\nb;1;2\n'), 1)
  assert.equal(extra('customerId\nnot an id,1\n'), 0, 'rejected rows are told as such')
  // A row that is too long is rejected, and its separators are not those of the next one.
  assert.equal(extra(`customerId\n${'x,'.repeat(20)}\na\n`, { maxRowBytes: 20 }), 0)
  for (let size = 1; size < 12; size++) assert.equal(extra('customerId\na,1\nb\nc,2', { size }), 2, `${size}`)
})
