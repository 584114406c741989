import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError } from '../../../core/errors.js'
import { engineError, type SdkFailure } from '../client/failures.js'
import {
  CreateTableCommand,
  type DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '../client/sdk.js'
import { createTableInput } from './create-table-input.js'
import type { TableCreation, TableState } from './table-facts.js'
import { describeTable, differencesOf } from './table-state.js'
import { TABLES, type TableDefinition, type TableNames, type TableRole } from './tables.js'

interface CreateOptions {
  timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 300_000
const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = 2000
/** A new table may refuse settings for a little while. */
const NOT_YET = new Set([
  'ResourceInUseException',
  'ContinuousBackupsUnavailableException',
  'LimitExceededException',
])

/** Creates missing tables, turns on what is off, and waits until the tables can be used. Safe to repeat. */
export function createTables(
  client: DynamoDBClient,
  names: TableNames,
  roles: readonly TableRole[],
  { timeoutMs = DEFAULT_TIMEOUT_MS }: CreateOptions = {},
): Promise<TableCreation[]> {
  const endsAt = performance.now() + timeoutMs
  return Promise.all(roles.map((role) => createTable(client, role, names[role], endsAt)))
}

async function createTable(
  client: DynamoDBClient,
  role: TableRole,
  name: string,
  endsAt: number,
): Promise<TableCreation> {
  const created = await createUnlessThere(client, role, name)
  let state = await untilActive(client, role, name, endsAt)
  const turnedOn: string[] = []
  // A key cannot be changed. If it differs, the table belongs to another program and nothing is changed.
  const isOurs = !differencesOf(state).some(({ what }) => what === 'keys')
  for (const part of isOurs ? switchesOf(TABLES[role], name) : []) {
    if (part.isOn(state)) continue
    if (await turnOn(client, part, state, endsAt)) turnedOn.push(part.what)
    state = await untilActive(client, role, name, endsAt)
  }
  return { role, table: name, created, turnedOn: created ? [] : turnedOn, differences: differencesOf(state) }
}

/** A setting of a table that can be off, and a call that turns it on. */
interface Switch {
  what: string
  isOn(state: TableState): boolean
  turnOn(client: DynamoDBClient): Promise<unknown>
}

function switchesOf({ stream, ttlAttribute, pointInTimeRecovery }: TableDefinition, name: string): Switch[] {
  const expiry = { AttributeName: ttlAttribute, Enabled: true }
  const switches: Switch[] = [
    {
      what: 'ttl',
      // If TTL uses another attribute, it is on too. That is reported as a difference, not changed.
      isOn: (state) => state.ttlAttribute !== undefined,
      turnOn: (client) =>
        client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: expiry })),
    },
  ]
  if (stream !== undefined) {
    const specification = { StreamEnabled: true, StreamViewType: stream }
    switches.push({
      what: 'stream',
      isOn: (state) => state.stream !== undefined,
      turnOn: (client) =>
        client.send(new UpdateTableCommand({ TableName: name, StreamSpecification: specification })),
    })
  }
  if (pointInTimeRecovery) {
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
    switches.push({
      what: 'point-in-time recovery',
      isOn: (state) => state.pointInTimeRecovery !== 'off',
      turnOn: (client) =>
        client.send(
          new UpdateContinuousBackupsCommand({ TableName: name, PointInTimeRecoverySpecification }),
        ),
    })
  }
  return switches
}

async function createUnlessThere(client: DynamoDBClient, role: TableRole, name: string): Promise<boolean> {
  if ((await describeTable(client, role, name)).status !== 'MISSING') return false
  try {
    await client.send(new CreateTableCommand(createTableInput(TABLES[role], name)))
    return true
  } catch (error) {
    // Another process was faster.
    if ((error as SdkFailure).name === 'ResourceInUseException') return false
    throw engineError(error, `CreateTable of ${name}`, false)
  }
}

async function untilActive(
  client: DynamoDBClient,
  role: TableRole,
  name: string,
  endsAt: number,
): Promise<TableState> {
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LONGEST_POLL_MS, pollMs * 2)) {
    const state = await describeTable(client, role, name)
    if (state.status === 'ACTIVE' && state.indexes.every(({ status }) => status === 'ACTIVE')) return state
    if (performance.now() + pollMs > endsAt) {
      throw new CatracaError('ENGINE_UNAVAILABLE', `${name} is still ${state.status}; try again`)
    }
    await sleep(pollMs)
  }
}

/** False if another process has turned it on meanwhile. */
async function turnOn(
  client: DynamoDBClient,
  part: Switch,
  { role, name }: TableState,
  endsAt: number,
): Promise<boolean> {
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(LONGEST_POLL_MS, pollMs * 2)) {
    try {
      await part.turnOn(client)
      return true
    } catch (error) {
      if (part.isOn(await describeTable(client, role, name))) return false
      const isTooEarly = NOT_YET.has((error as SdkFailure).name) && performance.now() + pollMs < endsAt
      if (!isTooEarly) throw engineError(error, `${part.what} of ${name}`, false)
    }
    await sleep(pollMs)
  }
}
