import { randomBytes } from 'node:crypto'
import { CustomerProbe, type HashKey, hashKey } from '../../src/guards/allowlist/membership/hash.js'
import { IndexBuilder } from '../../src/guards/allowlist/membership/index-builder.js'
import type { Snapshot } from '../../src/guards/allowlist/membership/snapshot.js'
import { openSnapshot, SequentialKeys } from '../support/membership.js'
import { report } from '../support/report.js'

/**
 * Every one of 5 M members is found, and 20 M strangers, the numbers next to the members', are taken for members as
 * often as the theory says.
 */
const MEMBERS = Number(process.argv[2] ?? 5_000_000)
const STRANGERS = 4 * MEMBERS
const BLOCK = 10_000
/** Beyond this many standard deviations chance is no explanation: one run in 15,000. */
const MAX_DEVIATIONS = 4

const key = hashKey(randomBytes(16))
const builder = new IndexBuilder({ key, fingerprintBits: 16 })
const block = new SequentialKeys(BLOCK)
for (let first = 0; first < MEMBERS; first += BLOCK) {
  block.fill(first)
  builder.addBlock(block)
}
const snapshot = openSnapshot([...builder.finish()])

const found = countFound(snapshot, key, 0, MEMBERS)
const wrong = countFound(snapshot, key, MEMBERS, MEMBERS + STRANGERS)
const expected = STRANGERS / 2 ** 16
const deviations = (wrong - expected) / Math.sqrt(expected * (1 - 2 ** -16))

report({
  name: 'proof-membership-exhaustive',
  rounds: 1,
  setting: { members: MEMBERS, strangers: STRANGERS, pages: snapshot.pages.length },
  figures: {
    membersMissed: MEMBERS - found,
    falsePositives: wrong,
    falsePositivesExpected: expected,
    deviations,
    bytesPerCustomer: snapshot.sizeBytes / MEMBERS,
  },
  ratios: { falsePositivesToTheory: wrong / expected },
})
if (found !== MEMBERS || Math.abs(deviations) > MAX_DEVIATIONS) {
  console.error('\nNot proven.')
  process.exitCode = 1
}

function countFound(index: Snapshot, hashKey: HashKey, from: number, to: number): number {
  const probe = new CustomerProbe()
  let count = 0
  for (let first = from; first < to; first += BLOCK) {
    block.fill(first)
    for (let i = 0; i < BLOCK; i++) {
      probe.setKey(block.bytes, block.start(i), block.end(i))
      probe.hash(hashKey)
      if (index.mayContain(probe.hi, probe.lo)) count++
    }
  }
  return count
}
