// How much a directory of keys gains by its cache: the same reads without and with it, over HTTP.
// node examples/dict/run.mjs [STORE] [ENTRIES] [READS]: STORE for the second tier, such as redis://127.0.0.1:6379/0
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { openCatraca } from 'catraca'
import pg from 'pg'
import { startPostgres } from './postgres.mjs'
import { createTable, dictService } from './service.mjs'

const [store = 'memory:', entries = '1000', reads = '8000'] = process.argv.slice(2)
const AT_ONCE = 16
/** Whatever hangs, the example ends. */
setTimeout(() => {
  console.error('the example took too long')
  process.exit(1)
}, 120_000).unref()

const postgres = await startPostgres()
const pool = new pg.Pool({ ...postgres.options, max: AT_ONCE })
// At the end the server may be gone a moment before its last connection.
pool.on('error', () => {})
const catraca = await openCatraca({ store })
const { server, counts, dict } = dictService({ catraca, pool })
const agent = new Agent({ keepAlive: true })
try {
  await createTable(pool)
  const keys = await fill(Number(entries))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const order = zipf(keys, Number(reads))
  const without = await measure(order, '?cache=off')
  console.log(`without the cache: ${without}, ${counts.databaseReads} database reads`)
  counts.databaseReads = 0
  const withCache = await measure(order, '')
  console.log(`with the cache: ${withCache}, ${counts.databaseReads} database reads`)
  const { hitRate } = dict.entries.stats().byKey
  console.log(`hit rate: ${(100 * hitRate).toFixed(1)} %`)

  const [key] = keys
  const moved = { ...(await call('GET', key)).body, account_number: '99999-9' }
  await call('PUT', key, moved)
  console.log(`written through: ${(await call('GET', key)).body.account_number}`)
  await call('DELETE', key)
  console.log(`deleted: ${(await call('GET', key)).status}`)
} finally {
  agent.destroy()
  server.close()
  await catraca.close()
  await pool.end()
  await postgres.stop()
}

/** People with a CPF each. */
async function fill(count) {
  const cpfs = Array.from({ length: count }, (_, i) => withCheckDigits(String(100_000_000 + i)))
  await pool.query(
    `INSERT INTO entries (id, key_type, key_value, account_ispb, account_number, status)
     SELECT id, 'CPF', value, '00000000', '12345-6', 'ACTIVE' FROM unnest($1::uuid[], $2::text[]) AS t (id, value)`,
    [cpfs.map(() => randomUUID()), cpfs],
  )
  return cpfs
}

function withCheckDigits(digits) {
  for (const length of [9, 10]) {
    const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (length + 1 - i), 0)
    digits += sum % 11 < 2 ? 0 : 11 - (sum % 11)
  }
  return digits
}

/** Few keys are asked for often, many seldom. */
function zipf(keys, count) {
  const weights = keys.map((_, i) => 1 / (i + 1))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return Array.from({ length: count }, () => {
    let left = Math.random() * sum
    return keys[weights.findIndex((weight) => (left -= weight) < 0)] ?? keys[0]
  })
}

async function measure(order, query) {
  const took = []
  const next = order.values()
  const caller = async () => {
    for (const key of next) {
      const begin = performance.now()
      const { status } = await call('GET', key, undefined, query)
      if (status !== 200) throw new Error(`answered ${status}`)
      took.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  took.sort((a, b) => a - b)
  const at = (percent) => `p${percent} ${took[Math.floor((took.length * percent) / 100)].toFixed(2)} ms`
  return [50, 95, 99].map(at).join(', ')
}

function call(method, key, body, query = '') {
  const { port } = server.address()
  const { promise, resolve, reject } = deferred()
  const sent = request(
    { agent, host: '127.0.0.1', port, method, path: `/entries/CPF/${key}${query}` },
    (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode, body: text === '' ? undefined : JSON.parse(text) }),
      )
    },
  )
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

function deferred() {
  const made = {}
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}
