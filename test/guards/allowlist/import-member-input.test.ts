import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CatracaError } from '../../../src/core/errors.js'
import { parseMemberInput } from '../../../src/guards/allowlist/member-input.js'

const wrong = (input: unknown, path = ''): string => {
  try {
    parseMemberInput(path, input)
  } catch (error) {
    assert.ok(error instanceof CatracaError)
    assert.equal(error.code, 'INVALID_INPUT')
    return error.errors!.map((each) => `${each.path}: ${each.message}`).join(' | ')
  }
  return 'nothing'
}

test('takes what may be said of a member, and nothing else', () => {
  const input = {
    addedBy: 'José da Silva',
    metadata: { a: [1, { b: null }] },
    expiresAt: '2030-01-31T12:00:00Z',
  }
  assert.deepEqual(parseMemberInput('', input), { ...input, expiresAt: Date.UTC(2030, 0, 31, 12) })
  assert.deepEqual(parseMemberInput('', undefined), {})
  assert.deepEqual(parseMemberInput('', { addedBy: undefined }), {})
  assert.match(wrong({ color: 'red' }), /^color: is not a known field$/)
  assert.match(wrong([]), /must be an object/)
  assert.match(wrong('x', 'body'), /^body: must be an object/)
  assert.match(
    wrong({ addedBy: 1, expiresAt: 2, metadata: 3 }, 'body'),
    /body\.addedBy.*body\.expiresAt.*body\.metadata/,
  )
})

test('a field name from outside is repeated only in part, without controls', () => {
  const message = wrong({ [`\u001b[31m${'x'.repeat(5000)}`]: 1 })
  assert.ok(message.length < 80, message)
  assert.ok(!message.includes('\u001b'))
})

test('addedBy is 1 to 256 printable characters', () => {
  for (const bad of [
    '',
    'x'.repeat(257),
    'a\nb',
    'a\u0000',
    '\u007f',
    '\u2028',
    '\u202eabc',
    '\ud800',
    7,
    null,
  ]) {
    assert.match(wrong({ addedBy: bad }), /^addedBy: must be 1 to 256 printable/, JSON.stringify(bad))
  }
  for (const good of ['x'.repeat(256), '👩‍👩‍👧', ' a ', '日本'])
    assert.equal(parseMemberInput('', { addedBy: good }).addedBy, good)
})

test('expiresAt is a moment that exists, with a zone', () => {
  const moments: Record<string, number> = {
    '2030-01-31T12:00:00Z': Date.UTC(2030, 0, 31, 12),
    '2030-01-31T12:00:00.5Z': Date.UTC(2030, 0, 31, 12, 0, 0, 500),
    '2030-01-31T12:00:00.123456789Z': Date.UTC(2030, 0, 31, 12, 0, 0, 123),
    '2030-01-31T12:00Z': Date.UTC(2030, 0, 31, 12),
    '2030-01-31T12:00:00-03:00': Date.UTC(2030, 0, 31, 15),
    '2030-01-31T00:30:00+01:00': Date.UTC(2030, 0, 30, 23, 30),
    '2028-02-29T00:00:00Z': Date.UTC(2028, 1, 29),
  }
  for (const [text, moment] of Object.entries(moments)) {
    assert.equal(parseMemberInput('', { expiresAt: text }).expiresAt, moment, text)
  }
  const bad = [
    '2030-02-30T00:00:00Z',
    '2029-02-29T00:00:00Z',
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-13-01T00:00:00Z',
  ]
  bad.push(
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:60:00Z',
    '1960-01-01T00:00:00Z',
    'tomorrow',
    '',
    ' 2030-01-31T12:00:00Z',
  )
  bad.push(
    '2030-01-31T12:00:00+25:00',
    '9999-12-31T23:59:59-01:00',
    '2030-01-31 12:00:00Z',
    '+02030-01-31T12:00:00Z',
  )
  for (const text of bad) assert.match(wrong({ expiresAt: text }), /^expiresAt: must be an ISO 8601/, text)
  for (const value of [1893456000000, null, new Date(0)])
    assert.match(wrong({ expiresAt: value }), /^expiresAt/)
})

test('metadata is a JSON object of at most 4096 bytes and 8 levels', () => {
  const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) })
  assert.deepEqual(parseMemberInput('', { metadata: nested(8) }).metadata, nested(8))
  assert.match(wrong({ metadata: nested(9) }), /at most 8 deep/)
  assert.ok(parseMemberInput('', { metadata: { a: 'x'.repeat(4096 - 8) } }))
  assert.match(wrong({ metadata: { a: 'x'.repeat(4096 - 7) } }), /at most 4096 bytes/)
  assert.match(wrong({ metadata: { a: 'é'.repeat(2045) } }), /at most 4096 bytes/)
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const odd = [
    [],
    'x',
    null,
    1,
    cycle,
    new Date(),
    new Map(),
    { a: Number.NaN },
    { a: () => 1 },
    { a: 1n },
    { a: [undefined] },
  ]
  for (const value of odd) assert.match(wrong({ metadata: value }), /^metadata: must/)
  assert.match(wrong({ metadata: { a: new Array(1e6).fill(0) } }), /at most 4096 bytes/)
})

test('no key reaches a prototype', () => {
  assert.match(wrong(JSON.parse('{"metadata":{"__proto__":{"admin":true}}}')), /__proto__/)
  assert.match(wrong(JSON.parse('{"metadata":{"a":{"__proto__":1}}}')), /__proto__/)
  assert.match(wrong(JSON.parse('{"__proto__":{"addedBy":"x"}}')), /__proto__: is not a known field/)
  const { metadata } = parseMemberInput('', { metadata: JSON.parse('{"constructor":{"prototype":1}}') })
  assert.deepEqual(metadata, { constructor: { prototype: 1 } })
  assert.equal(({} as Record<string, unknown>).admin, undefined)
})

test('metadata comes out as JSON would bring it back, and shares nothing with what was given', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (given) => {
      fc.pre(!JSON.stringify(given).includes('__proto__') && Buffer.byteLength(JSON.stringify(given)) <= 4096)
      const { metadata } = parseMemberInput('', { metadata: given })
      assert.deepEqual(metadata, JSON.parse(JSON.stringify(given)))
      assert.notEqual(metadata, given)
    }),
  )
})
