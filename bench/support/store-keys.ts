import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import type { TableNames } from '../../src/engines/dynamodb/tables/tables.js'
import { SnapshotReader } from '../../src/engines/embedded/lmdb/snapshot-reader.js'
import type { DynamoServer } from '../../test/support/dynamodb-server.js'
import type { RedisServers } from '../../test/support/redis/index.js'

/** What a store holds: keys, rows or items, by what they belong to. */
export type StoreKeys = Record<string, number>

/**
 * What is kept for longer than a soak lasts, so that its number only grows: the audit trail, and how often a code was
 * sent to an address (an hour). In the table of guards both stand beside the rest, and nothing expires in an emulator.
 */
export const KEPT_LONGER = ['audit', 'otp', 'codes', 'ratelimit', 'limit-states', 'usage', 'guards']

export async function redisKeys({ servers }: RedisServers): Promise<StoreKeys> {
  const found: StoreKeys = {}
  let cursor = '0'
  do {
    const scanned = (await servers[0]!.say('SCAN', cursor, 'COUNT', '5000')) as [string, string[]]
    for (const key of scanned[1]) {
      const group = String(key).replace('{', '').split(':')[0]!
      found[group] = (found[group] ?? 0) + 1
    }
    cursor = String(scanned[0])
  } while (cursor !== '0')
  return found
}

export async function embeddedRows(directory: string): Promise<StoreKeys> {
  const found: StoreKeys = {}
  const environments = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(directory, entry.name, 'data.mdb')))
    .map(({ name }) => join(directory, name))
  for (const environment of environments) {
    const reader = SnapshotReader.open(environment)
    try {
      for (const [name, rows] of Object.entries(reader.rows())) found[name] = (found[name] ?? 0) + rows
    } finally {
      await reader.close()
    }
  }
  return found
}

export async function dynamodbItems(server: DynamoServer, names: TableNames): Promise<StoreKeys> {
  const found: StoreKeys = {}
  const { sdk } = server.client()
  for (const [role, TableName] of Object.entries(names)) {
    let from: Record<string, unknown> | undefined
    found[role] = 0
    do {
      const input = { TableName, Select: 'COUNT' as const, ...(from && { ExclusiveStartKey: from as never }) }
      const { Count = 0, LastEvaluatedKey } = await sdk.send(new ScanCommand(input))
      found[role] += Count
      from = LastEvaluatedKey
    } while (from !== undefined)
  }
  return found
}

/** Descriptors of a process, without the connections of its clients, which come and go with the load. */
export function descriptorsOf(pid: number, port: number): number {
  const clients = new Set<string>()
  for (const table of ['tcp', 'tcp6']) {
    const file = `/proc/${pid}/net/${table}`
    if (!existsSync(file)) continue
    for (const line of readFileSync(file, 'latin1').split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      const isListening = state === '0A'
      if (local !== undefined && !isListening && Number.parseInt(local.split(':')[1]!, 16) === port)
        clients.add(`socket:[${inode}]`)
    }
  }
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).filter((fd) => {
    try {
      return !clients.has(readlinkSync(join(directory, fd)))
    } catch {
      return false
    }
  }).length
}
