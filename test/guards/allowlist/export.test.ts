import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { exportMembers } from '../../../src/guards/allowlist/export.js'
import { parseMemberInput } from '../../../src/guards/allowlist/member-input.js'
import type { MemberRecord } from '../../../src/guards/allowlist/port.js'
import type { ExportFormat } from '../../../src/guards/allowlist/types.js'
import { importInto, listFactory } from './import-helpers.js'

const newList = listFactory()

async function* pages(members: MemberRecord[], size = 2): AsyncGenerator<MemberRecord[]> {
  for (let at = 0; at < members.length; at += size) yield members.slice(at, at + size)
}

async function text(format: ExportFormat | 'spreadsheet', members: MemberRecord[]): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of exportMembers(format, pages(members))) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const MEMBERS: MemberRecord[] = [
  { customerId: 'a', addedAt: 0 },
  {
    customerId: 'b',
    addedAt: 1,
    addedBy: 'Silva, "Zé"',
    expiresAt: Date.UTC(2030, 0, 1),
    metadata: { k: 'v' },
  },
]

test('csv for spreadsheets holds no formula; the plain one is exact', async () => {
  const members: MemberRecord[] = ['=1+1', '+55', '-1', '@a', 'a=b'].map((customerId) => ({
    customerId,
    addedAt: 0,
    addedBy: customerId === 'a=b' ? ' =HYPERLINK("http://x")' : customerId,
    metadata: { '=x': 1 },
  }))
  const rows = async (form: 'csv' | 'spreadsheet') =>
    (await text(form, members))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((row) => row.split(',').filter((_, i) => i === 0 || i === 2))
  assert.deepEqual(await rows('spreadsheet'), [
    ["'=1+1", "'=1+1"],
    ["'+55", "'+55"],
    ["'-1", "'-1"],
    ["'@a", "'@a"],
    ['a=b', `"' =HYPERLINK(""http://x"")"`],
  ])
  assert.deepEqual(
    (await rows('csv')).map(([id]) => id),
    members.map(({ customerId }) => customerId),
  )
})

test('csv has a header, quotes what needs it, and says times in ISO 8601', async () => {
  const expected = [
    'customerId,addedAt,addedBy,expiresAt,metadata',
    'a,1970-01-01T00:00:00.000Z,,,',
    'b,1970-01-01T00:00:00.001Z,"Silva, ""Zé""",2030-01-01T00:00:00.000Z,"{""k"":""v""}"',
    '',
  ]
  assert.equal(await text('csv', MEMBERS), expected.join('\n'))
  assert.equal(await text('csv', []), `${expected[0]}\n`)
})

test('ndjson has one object per member, without what is not known', async () => {
  const lines = (await text('ndjson', MEMBERS)).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { customerId: 'a', addedAt: '1970-01-01T00:00:00.000Z' },
      {
        customerId: 'b',
        addedAt: '1970-01-01T00:00:00.001Z',
        addedBy: 'Silva, "Zé"',
        expiresAt: '2030-01-01T00:00:00.000Z',
        metadata: { k: 'v' },
      },
    ],
  )
  assert.equal(await text('ndjson', []), '')
})

test('text has the ids', async () => {
  assert.equal(await text('text', MEMBERS), 'a\nb\n')
})

test('chunks are of moderate size, and pages are asked for as they are needed', async () => {
  let asked = 0
  async function* many(): AsyncGenerator<MemberRecord[]> {
    for (; asked < 1000; asked++)
      yield Array.from({ length: 100 }, (_, i) => ({ customerId: `c-${asked}-${i}`, addedAt: 0 }))
  }
  const chunks = exportMembers('text', many())
  const first = await chunks.next()
  assert.ok(first.value!.length >= 64 * 1024 && first.value!.length < 70 * 1024)
  assert.ok(asked < 150, `${asked} pages for one chunk`)
  await chunks.return(undefined)
})

const printable = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => {
  try {
    return parseMemberInput('', { addedBy: value }) !== undefined
  } catch {
    return false
  }
})
const metadata = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  .filter((value) => !JSON.stringify(value).includes('__proto__') && JSON.stringify(value).length < 1000)
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>)
const member: fc.Arbitrary<MemberRecord> = fc.record(
  {
    customerId: fc.oneof(
      fc.uuid(),
      fc.stringMatching(/^[A-Za-z0-9_~:@+=-]{1,30}$/).filter((id) => id.length !== 36),
    ),
    addedAt: fc.nat(4e12),
    addedBy: fc.oneof(printable, fc.constantFrom(' x ', 'a,b', '"', '""', 'a;b', "'=1+1", '\u00a0x')),
    expiresAt: fc.nat(4e12),
    metadata,
  },
  { requiredKeys: ['customerId', 'addedAt'], noNullPrototype: true },
)

test('what is exported is imported with the same attributes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(member, { selector: (each) => each.customerId, maxLength: 10 }),
      fc.constantFrom<ExportFormat>('csv', 'ndjson'),
      async (members, format) => {
        const list = await newList()
        const result = await importInto(list, exportMembers(format, pages(members)), { format })
        assert.deepEqual([result.firstErrors, result.added], [[], members.length])
        const found = new Map(await list.members())
        for (const { customerId, addedAt: _, ...attributes } of members) {
          assert.deepEqual(found.get(customerId), attributes)
        }
      },
    ),
    { numRuns: 200 },
  )
})
