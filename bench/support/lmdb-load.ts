import { readFileSync } from 'node:fs'
import { open } from 'lmdb'

/**
 * LMDB alone, as a yardstick for imports: the customers of a CSV file, sorted and encoded beforehand, into one
 * database by list and one by customer, in transactions as large and as durable as those of the engine.
 */
const [directory, csv] = process.argv.slice(2)
const ROWS_PER_TRANSACTION = 10_000
const SYNC_COMMIT_WITHOUT_FLUSH: number = 0x10003
const LIST = Buffer.from([0, 0, 0, 1])
const NOTHING = Buffer.alloc(0)

const ids = readFileSync(csv!, 'latin1').trimEnd().split('\n').slice(1).sort()
const keys = ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'))
const row = Buffer.alloc(7, 1)

const root = open({ path: directory!, maxDbs: 2, commitDelay: 0 })
const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
const members = root.openDB<Buffer, Uint8Array>('members', binary)
const reverse = root.openDB<Buffer, Uint8Array>('reverse', binary)

const begin = performance.now()
for (let from = 0; from < keys.length; from += ROWS_PER_TRANSACTION) {
  root.transactionSync(() => {
    for (const key of keys.slice(from, from + ROWS_PER_TRANSACTION)) {
      members.putSync(Buffer.concat([LIST, key]), row)
      reverse.putSync(Buffer.concat([key, LIST]), NOTHING)
    }
  }, SYNC_COMMIT_WITHOUT_FLUSH)
}
await root.close()
process.send!((1000 * keys.length) / (performance.now() - begin))
