// @ts-check
// Import and export as streams, of any size. Run: node examples/import-stream.mjs
import { openCatraca } from 'catraca'

const catraca = await openCatraca({ store: 'memory:' })
const { allowlists } = catraca
await allowlists.create({ id: 'campaign', name: 'Campaign', type: 'FIXA' })

/**
 * Stands for a file or a network stream: anything that yields bytes. Whole thousands only.
 * @param {number} from
 * @param {number} to
 */
async function* rows(from, to) {
  yield Buffer.from('customerId\n')
  for (let i = from; i < to; i += 1000) {
    const ids = Array.from({ length: 1000 }, (_, k) => `customer-${i + k}\n`)
    yield Buffer.from(ids.join(''))
  }
}

async function* rowsWithMistakes() {
  yield* rows(0, 20_000)
  yield Buffer.from('not an id\ncustomer-1\n')
}

// Rows that cannot be read are reported with their lines; the others are stored.
const first = await allowlists.import('campaign', rowsWithMistakes(), { importId: 'monday' })
console.log(`add: ${first.added} added, ${first.unchanged} unchanged, ${first.rejected} rejected`)
console.log(`line ${first.firstErrors[0]?.line}: ${first.firstErrors[0]?.message}`)

// The same import again changes nothing: its answer was recorded.
const again = await allowlists.import('campaign', rowsWithMistakes(), { importId: 'monday' })
console.log(`again: ${again.added} added, the list holds ${again.customerCount}`)

// Replacing makes the list hold exactly these rows, in one switch.
const second = await allowlists.import('campaign', rows(15_000, 25_000), { mode: 'replace' })
console.log(`replace: ${second.added} added, ${second.unchanged} unchanged, ${second.removed} removed`)

let exported = 0
for await (const chunk of allowlists.export('campaign', { format: 'text' })) {
  exported += Buffer.from(chunk).toString().split('\n').length - 1
}
console.log(`export: ${exported} customers`)

await catraca.close()
