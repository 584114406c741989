import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { placeBy } from '../../../src/guards/allowlist/wave/hash.js'

/** All inputs are fixed, so these tests pass or fail for good. A z of 4.5 comes by chance 3 times in a million. */
const Z_LIMIT = 4.5
const CUSTOMERS = 50_000

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
const list = (count: number, make: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => make(i))
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

function randomUuid(i: number): string {
  const digits = md5(`customer ${i}`)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`
}

/** Eight customers a millisecond, then a counter, then chance: as a busy service makes them. */
function version7Uuid(i: number): string {
  const time = hex(0x018f3c5e7b20 + (i >>> 3), 12)
  const chance = md5(`tail ${i}`)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(i & 0xfff, 3)}-b${chance.slice(0, 3)}-${chance.slice(3, 15)}`
}

/** Every id of 1 to 4 digits, and of the longer ones so many at equal distances. */
const shortIds = [1, 2, 3, 4, 5, 6].flatMap((digits) => {
  const count = Math.min(10 ** digits, 25_000)
  return list(count, (i) => String((i * 10 ** digits) / count).padStart(digits, '0'))
})

const POPULATIONS: Record<string, string[]> = {
  'random UUIDs': list(CUSTOMERS, randomUuid),
  'version-7 UUIDs': list(CUSTOMERS, version7Uuid),
  'UUIDs that differ in a counter at the end': list(
    CUSTOMERS,
    (i) => `018f3c5e-7b20-7000-8000-${hex(i, 12)}`,
  ),
  'sequential numbers': list(CUSTOMERS, (i) => String(10_000_000_000 + i)),
  'ids of 1 to 6 digits': shortIds,
}

function places(salt: string, customerIds: string[]): Float64Array {
  return Float64Array.from(customerIds, placeBy(salt))
}

/** Wilson and Hilferty: turns a chi-square into a standard normal. */
function zScore(chiSquare: number, freedom: number): number {
  const spread = 2 / (9 * freedom)
  return (Math.cbrt(chiSquare / freedom) - (1 - spread)) / Math.sqrt(spread)
}

function uniformityZ(sample: Float64Array): number {
  const counts = new Float64Array(100)
  for (const place of sample) counts[Math.floor(place * 100)]!++
  const expected = sample.length / 100
  return zScore(
    counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0),
    99,
  )
}

/** Chi-square of two lists falling into their buckets independently, given how full each bucket is. */
function contingency(
  a: Float64Array,
  b: Float64Array,
  buckets: number,
  bucketOf: (place: number) => number,
): number {
  const cells = new Float64Array(buckets * buckets)
  const rows = new Float64Array(buckets)
  const columns = new Float64Array(buckets)
  for (let i = 0; i < a.length; i++) {
    const row = bucketOf(a[i]!)
    const column = bucketOf(b[i]!)
    cells[row * buckets + column]!++
    rows[row]!++
    columns[column]!++
  }
  return cells.reduce((sum, count, cell) => {
    const expected = (rows[Math.floor(cell / buckets)]! * columns[cell % buckets]!) / a.length
    return sum + (count - expected) ** 2 / expected
  }, 0)
}

const independenceZ = (a: Float64Array, b: Float64Array): number =>
  zScore(
    contingency(a, b, 10, (place) => Math.floor(place * 10)),
    81,
  )
/** In or out of two waves: chi-square with one degree of freedom, the square of a standard normal. */
const twoWaves = (a: Float64Array, b: Float64Array, percentage: number): number =>
  contingency(a, b, 2, (place) => (place < percentage ? 0 : 1))

function assertIndependent(a: Float64Array, b: Float64Array, what: string): number {
  const z = independenceZ(a, b)
  assert.ok(z < Z_LIMIT, `10 x 10, ${what}: z = ${z.toFixed(2)}`)
  for (const percentage of [0.1, 0.5]) {
    const chiSquare = twoWaves(a, b, percentage)
    assert.ok(chiSquare < Z_LIMIT ** 2, `2 x 2 at ${percentage}, ${what}: ${chiSquare.toFixed(1)}`)
  }
  return z
}

/** Many weak signs add up: the mean of n scores has a deviation of 1 / sqrt(n). */
function assertMeanNearZero(scores: number[]): void {
  const mean = scores.reduce((sum, z) => sum + z, 0) / scores.length
  assert.ok(Math.abs(mean) < Z_LIMIT / Math.sqrt(scores.length), `mean z = ${mean.toFixed(2)}`)
}

for (const [name, customerIds] of Object.entries(POPULATIONS)) {
  test(`places are uniform: ${name}`, () => {
    const scores = list(20, (i) => md5(`uniform ${i}`)).map((salt) => uniformityZ(places(salt, customerIds)))
    assert.ok(Math.max(...scores) < Z_LIMIT, `z = ${Math.max(...scores).toFixed(2)}`)
    assertMeanNearZero(scores)
  })

  test(`two lists are independent: ${name}`, () => {
    const scores = list(10, String).map((i) =>
      assertIndependent(
        places(md5(`one ${i}`), customerIds),
        places(md5(`other ${i}`), customerIds),
        `pair ${i}`,
      ),
    )
    assertMeanNearZero(scores)
  })

  test(`also when their salts differ in one character: ${name}`, () => {
    const salt = md5('neighbours')
    const first = places(salt, customerIds)
    const scores = list(32, String).map((text) => {
      const position = Number(text)
      const digit = (Number.parseInt(salt[position]!, 16) ^ 1).toString(16)
      const neighbour = salt.slice(0, position) + digit + salt.slice(position + 1)
      return assertIndependent(first, places(neighbour, customerIds), `character ${position}`)
    })
    assertMeanNearZero(scores)
  })
}

test('a third of a wave is a third of the customers, and two waves of a tenth share a hundredth', () => {
  const customerIds = POPULATIONS['random UUIDs']!
  const a = places(md5('wave a'), customerIds)
  const b = places(md5('wave b'), customerIds)
  const share = (inside: (i: number) => boolean): number =>
    a.reduce((sum, _, i) => sum + (inside(i) ? 1 : 0), 0) / a.length
  assert.ok(Math.abs(share((i) => a[i]! < 1 / 3) - 1 / 3) < 0.01)
  assert.ok(Math.abs(share((i) => a[i]! < 0.1 && b[i]! < 0.1) - 0.01) < 0.002)
})

test('these tests see what they look for', () => {
  const customerIds = POPULATIONS['random UUIDs']!
  const a = places(md5('wave a'), customerIds)
  const b = places(md5('wave b'), customerIds)
  assert.ok(uniformityZ(a.map((place) => place * 0.99)) > 10, 'an empty last bucket')
  assert.ok(independenceZ(a, a) > 100, 'the same list twice')
  assert.ok(twoWaves(a, a, 0.1) > 1000, 'the same wave twice')
  const leaning = a.map((place, i) => (i % 20 === 0 ? place : b[i]!))
  assert.ok(independenceZ(a, leaning) > 10, 'one customer in twenty keeps its place')
})
