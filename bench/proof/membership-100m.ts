import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CustomerProbe, hashKey } from '../../src/guards/allowlist/membership/hash.js'
import { IndexBuilder } from '../../src/guards/allowlist/membership/index-builder.js'
import type { EncodedPage } from '../../src/guards/allowlist/membership/page.js'
import { PagePool } from '../../src/guards/allowlist/membership/page-pool.js'
import { openSnapshot, SequentialKeys } from '../support/membership.js'
import { report } from '../support/report.js'

/**
 * The index of 100 M customers, streamed in the order of their keys: how big its pages are, how much memory and time
 * it takes. All pages are kept, which a build into a store need not do. Every hundredth member is looked up.
 */
const CUSTOMERS = Number(process.argv[2] ?? 100_000_000)
const THREADS = Number(process.argv[3] ?? 2)
const BLOCK = 10_000
const MAX_PAGE_BYTES_EACH = 2.45
const MAX_ANONYMOUS_BYTES = 1.5e9

let peakAnonymousBytes = 0
function noteMemory(): void {
  const kilobytes = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
  peakAnonymousBytes = Math.max(peakAnonymousBytes, 1024 * Number(kilobytes))
}

const key = hashKey(randomBytes(16))
const block = new SequentialKeys(BLOCK)
const begin = performance.now()
const builder = new IndexBuilder({ key, fingerprintBits: 16 })
const pool = new PagePool(builder.kind, THREADS)
for (let first = 0; first < CUSTOMERS; first += BLOCK) {
  block.fill(first)
  builder.addBlock(block)
  if (first % (100 * BLOCK) === 0) noteMemory()
}
const hashedAt = performance.now()

const pages: EncodedPage[] = []
let pageBytes = 0
for await (const page of pool.make(builder.buckets())) {
  pages.push(page)
  pageBytes += page.bytes.length
  noteMemory()
}
const builtAt = performance.now()
await pool.close()

const snapshot = openSnapshot(pages)
const probe = new CustomerProbe()
let missed = 0
for (let first = 0; first < CUSTOMERS; first += 100 * BLOCK) {
  block.fill(first)
  for (let i = 0; i < BLOCK; i++) {
    probe.setKey(block.bytes, block.start(i), block.end(i))
    probe.hash(key)
    if (!snapshot.mayContain(probe.hi, probe.lo)) missed++
  }
}

report({
  name: 'proof-membership-100m',
  rounds: 1,
  setting: { customers: CUSTOMERS, threads: THREADS, pages: pages.length },
  figures: {
    pageMegabytes: pageBytes / 1e6,
    peakAnonymousMegabytes: peakAnonymousBytes / 1e6,
    hashSeconds: (hashedAt - begin) / 1000,
    pageSeconds: (builtAt - hashedAt) / 1000,
    buildSeconds: (builtAt - begin) / 1000,
    membersMissed: missed,
  },
  ratios: { bytesPerCustomer: pageBytes / CUSTOMERS },
})
if (missed > 0 || pageBytes > MAX_PAGE_BYTES_EACH * CUSTOMERS || peakAnonymousBytes > MAX_ANONYMOUS_BYTES) {
  console.error('\nNot proven.')
  process.exitCode = 1
}
