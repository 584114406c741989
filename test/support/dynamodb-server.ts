import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CreateTableCommand, DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import type { DynamoOptions } from '../../src/engines/dynamodb/client/options.js'
import { createTableInput } from '../../src/engines/dynamodb/tables/create-table-input.js'
import { TABLES, type TableNames, type TableRole } from '../../src/engines/dynamodb/tables/tables.js'
import { atEnd } from './at-end.js'
import { PATIENT_DYNAMODB } from './patient.js'
import { shieldingProxy } from './shielding-proxy.js'

export const EMULATORS = ['dynoxide', 'extenddb'] as const
export type Emulator = (typeof EMULATORS)[number]

/** The pair of AWS's documentation: extenddb checks signatures against it, dynoxide takes any. */
export const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
/** The same for processes, which read them as the SDK does. */
export const CREDENTIALS_ENV = {
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
}
export const REGION = 'us-east-1'

/** A write whose end is unknown is not repeated, so whoever is not about times waits long. */
export { PATIENT_DYNAMODB as PATIENCE } from './patient.js'

export interface DynamoServer {
  readonly emulator: Emulator
  readonly endpoint: string
  /** A client that is closed after the tests of this file. */
  client(options?: Partial<DynamoOptions>): DynamoClient
  /** Names that no other test uses, so that one server serves a whole file. */
  names(): TableNames
  /**
   * Empty tables for one case, made with one request each. They have keys and indexes as defined, streams if asked
   * for, and neither expiry nor recovery. An engine opens them with `checkTables: false`.
   */
  emptyTables(roles: readonly TableRole[], options?: { streams: boolean }): Promise<TableNames>
  /** The store URL of these tables. */
  url(names: TableNames): string
  /** It stays, and says nothing. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** Far longer than it takes, also on a busy machine. */
const START_TIMEOUT_MS = 120_000

/** Starts an emulator on a free loopback port; it ends with the tests of this file. */
export async function startDynamo(emulator: Emulator = 'dynoxide'): Promise<DynamoServer> {
  const port = await freePort()
  const { command, args, env } = launch(emulator, port)
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-4000)
  })
  const shield = emulator === 'extenddb' ? await shieldingProxy(port) : undefined
  const endpoint = `http://127.0.0.1:${shield?.port ?? port}`
  const clients: DynamoClient[] = []
  const stop = async (): Promise<void> => {
    for (const client of clients.splice(0)) client.close()
    shield?.stop()
    await end(child)
  }
  atEnd(stop)
  const client = (options: Partial<DynamoOptions> = {}): DynamoClient => {
    const made = new DynamoClient({
      ...{ ...PATIENT_DYNAMODB, region: REGION, endpoint, credentials: CREDENTIALS, ...options },
    })
    clients.push(made)
    return made
  }
  let admin: DynamoClient | undefined
  await untilItAnswers(child, `${endpoint}${emulator === 'extenddb' ? '/health' : '/'}`, () => said)
  return {
    emulator,
    endpoint,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop,
    client,
    names: uniqueNames,
    async emptyTables(roles, { streams } = { streams: false }) {
      const names = uniqueNames()
      const { sdk } = (admin ??= client())
      for (const role of roles) {
        const { stream, ...table } = TABLES[role]
        const withStream = streams && stream !== undefined ? { stream } : {}
        await sdk.send(new CreateTableCommand(createTableInput({ ...table, ...withStream }, names[role])))
      }
      // dynoxide makes a table at once; extenddb takes a while.
      if (emulator === 'extenddb') for (const role of roles) await untilActive(sdk, names[role])
      return names
    },
    url: (names) => storeUrl(endpoint, names),
  }
}

export function storeUrl(endpoint: string, { allowlists, giant, idempotency, guards }: TableNames): string {
  const query = new URLSearchParams({ endpoint, giant, idempotency, guards })
  return `dynamodb://${REGION}/${allowlists}?${query}`
}

let made = 0

function uniqueNames(): TableNames {
  const suffix = `${process.pid}-${made++}`
  return {
    allowlists: `Allowlists-${suffix}`,
    giant: `AllowlistsGiant-${suffix}`,
    idempotency: `mq-probe-idempotency-${suffix}`,
    guards: `catraca-guards-${suffix}`,
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

interface Launch {
  command: string
  args: string[]
  env: Record<string, string>
}

function launch(emulator: Emulator, port: number): Launch {
  const command = join(packageDirectory(`@${emulator}/linux-x64`), emulator)
  const PATH = process.env.PATH ?? ''
  if (emulator === 'dynoxide')
    return { command, args: ['--host', '127.0.0.1', '--port', `${port}`], env: { PATH } }
  return {
    command,
    args: ['serve', '--foreground'],
    env: {
      PATH,
      EXTENDDB__SERVER__PORT: `${port}`,
      EXTENDDB__SERVER__BIND_ADDR: '127.0.0.1',
      EXTENDDB__STORAGE__SQLITE__PATH: ':memory:',
    },
  }
}

/** `scripts/ensure-emulators.mjs` installs them there. */
const EMULATOR_PACKAGES = new URL('../../../test/emulators/package.json', import.meta.url)

function packageDirectory(name: string): string {
  try {
    return dirname(createRequire(EMULATOR_PACKAGES).resolve(`${name}/package.json`))
  } catch (cause) {
    const where = `${process.platform}-${process.arch}`
    const remedy = `node scripts/ensure-emulators.mjs installs it on linux-x64; this is ${where}`
    throw new Error(`${name} is not installed: ${remedy}`, { cause })
  }
}

async function untilItAnswers(child: ChildProcess, url: string, said: () => string): Promise<void> {
  const endsAt = Date.now() + START_TIMEOUT_MS
  while (Date.now() < endsAt) {
    if (child.exitCode !== null) throw new Error(`the emulator ended with ${child.exitCode}: ${said()}`)
    try {
      if ((await fetch(url)).ok) return
    } catch {
      // Not listening yet.
    }
    await sleep(10)
  }
  throw new Error(`the emulator does not answer at ${url}: ${said()}`)
}

async function untilActive(sdk: DynamoClient['sdk'], TableName: string): Promise<void> {
  const endsAt = Date.now() + START_TIMEOUT_MS
  while (Date.now() < endsAt) {
    const { Table } = await sdk.send(new DescribeTableCommand({ TableName }))
    const indexes = Table?.GlobalSecondaryIndexes ?? []
    if ([Table?.TableStatus, ...indexes.map((index) => index.IndexStatus)].every((one) => one === 'ACTIVE'))
      return
    await sleep(20)
  }
  throw new Error(`${TableName} does not become ACTIVE`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
