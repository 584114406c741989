import { randomBytes } from 'node:crypto'
import { itemBytes } from '../../src/engines/dynamodb/client/sizes.js'
import { type DynamodbEngine, openDynamodb } from '../../src/engines/dynamodb/index.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import type { Completion } from '../../src/guards/idempotency/port.js'
import type { RecordKey } from '../../src/guards/idempotency/types.js'
import { CREDENTIALS, type DynamoServer, startDynamo } from '../../test/support/dynamodb-server.js'
import type { Part } from './idempotency-embedded.js'

export interface Units {
  read: number
  write: number
}

const LEASE_MS = 30_000
const LIFE_MS = 86_400_000
const OWNER = 'a1'.repeat(32)
const OTHER = 'b2'.repeat(32)
const KEY = '5c1e0a56-4a58-4aaf-9359-83ec8f663f10'

const claimOf = (key: RecordKey, owner: string) => ({
  ...{ key, owner, requestHash: 'c3'.repeat(32) },
  ...{ leaseMs: LEASE_MS, lifeMs: LIFE_MS, takesOver: true },
})
const json = (sizeBytes: number): Completion => ({
  response: { encoding: 'json', text: JSON.stringify('x'.repeat(sizeBytes - 2)) },
})
const gzip = (sizeBytes: number): Completion => ({
  response: { encoding: 'gzip', bytes: randomBytes(sizeBytes) },
})
const RESPONSES: Record<string, Completion> = {
  'of 200 bytes': json(200),
  'of 8 KB': json(8192),
  'of 30 KB, compressed': gzip(30 * 1024),
  'of 1 MB, compressed': gzip(1024 * 1024),
}

/** What each costs, on the emulator dynoxide. */
export async function measureIdempotencyOnDynamodb(): Promise<Part> {
  const server = await startDynamo('dynoxide')
  try {
    const figures: Part['figures'] = {}
    for (const [name, { read, write }] of Object.entries(await countIdempotencyUnits(server))) {
      figures[`dynamodb, ${name}: read units`] = read
      figures[`dynamodb, ${name}: write units`] = write
    }
    return { figures, ratios: {} }
  } finally {
    await server.stop()
  }
}

/**
 * Units of claim, complete and replay. What a refused claim costs DynamoDB does not tell: it is one write unit for each
 * KB of the record that it found, rounded up.
 */
export async function countIdempotencyUnits(server: DynamoServer): Promise<Record<string, Units>> {
  const names = server.names()
  const client = server.client()
  await createTables(client.sdk, names, TABLE_ROLES)
  const url = parseStoreUrl(server.url(names)) as DynamodbUrl
  const open = (idempotencyReadFirst: 'always' | 'never') =>
    openDynamodb(url, { credentials: CREDENTIALS, probeIntervalMs: 0, idempotencyReadFirst })
  const [engine, reading] = [await open('never'), await open('always')]
  const counted: Record<string, Units> = {}
  const count = async (name: string, of: DynamodbEngine, call: () => Promise<unknown>) => {
    of.capacity.reset()
    await call()
    const sum = { read: 0, write: 0 }
    for (const { readUnits, writeUnits } of of.capacity.rows()) {
      sum.read += readUnits
      sum.write += writeUnits
    }
    counted[name] = sum
  }
  try {
    const now = Date.now()
    let i = 0
    for (const [size, completion] of Object.entries(RESPONSES)) {
      const key = { operation: 'PRODUCE', key: `${KEY.slice(0, -1)}${i++}` }
      const { idempotency: store } = engine
      await count('idempotency: claim', engine, () => store.claim(claimOf(key, OWNER), now))
      await count('idempotency: extend', engine, () => store.extend(key, OWNER, LEASE_MS, now))
      await count(`idempotency: complete ${size}`, engine, () => store.complete(key, OWNER, completion, now))
      const refused = `idempotency: replay ${size}, refused`
      await count(refused, engine, () => store.claim(claimOf(key, OTHER), now))
      const pk = { S: `${key.operation}#${key.key}` }
      const item = await client.getItem('size', { TableName: names.idempotency, Key: { pk } })
      counted[refused]!.write += Math.ceil(itemBytes(item!) / 1024)
      const again = () => reading.idempotency.claim(claimOf(key, OTHER), now)
      await count(`idempotency: replay ${size}, read first`, reading, again)
    }
    return counted
  } finally {
    await engine.close()
    await reading.close()
  }
}
