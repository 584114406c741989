// @ts-check
// Answers from memory: the membership index of a list. Run: node examples/index.mjs
import { openCatraca } from 'catraca'

// Left alone, the first check of a list has its index built in the background. Here it is built by hand, so that
// every run prints the same.
const catraca = await openCatraca({ store: 'memory:', membership: { build: 'off' } })
const { allowlists } = catraca

async function* rows() {
  for (let i = 0; i < 50_000; i += 1000) {
    yield Buffer.from(Array.from({ length: 1000 }, (_, k) => `customer-${i + k}\n`).join(''))
  }
}

await allowlists.create({ id: 'campaign', name: 'Campaign', type: 'FIXA' })
await allowlists.import('campaign', rows(), { format: 'text' })
console.log(`before: ${(await allowlists.index('campaign')).state}`)

await allowlists.rebuild('campaign')
const { state, pages, customers, sizeBytes } = await allowlists.index('campaign')
console.log(`after: ${state}, ${pages} page, ${customers} customers in ${Math.round(sizeBytes / 1000)} KB`)

/**
 * Asks about customers, and tells how they were answered.
 * @param {string} who
 * @param {string[]} ids
 */
async function ask(who, ids) {
  const before = catraca.stats()
  let allowed = 0
  for (const id of ids) if ((await allowlists.check(id, ['campaign'])).overallAllowed) allowed++
  const after = catraca.stats()
  const { filtered, overlay, confirmed, store } = after.checks
  const memory = filtered + overlay - before.checks.filtered - before.checks.overlay
  const asked = confirmed + store - before.checks.confirmed - before.checks.store
  const remembered = after.verificationCacheHits - before.verificationCacheHits
  console.log(
    `${who}: ${allowed} of ${ids.length} may pass; ` +
      `${memory} certain from memory, ${asked} asked of the store, ${remembered} remembered`,
  )
}

const strangers = Array.from({ length: 2000 }, (_, i) => `stranger-${i}`)
const members = Array.from({ length: 2000 }, (_, i) => `customer-${i}`)
await ask('strangers', strangers)
await ask('members', members)
await ask('members again', members)

// What changes after the build is kept beside it, exactly, and answers at once.
await allowlists.add('campaign', 'newcomer')
await allowlists.remove('campaign', 'customer-0')
await ask('changed', ['newcomer', 'customer-0'])
console.log(`changed since the build: ${(await allowlists.index('campaign')).overlaySize}`)

await catraca.close()
