import { CatracaError } from '../../../core/errors.js'
import { CapacityCounts } from '../client/capacity.js'
import { DynamoClient } from '../client/client.js'
import { type DaxReader, openDax } from '../client/dax.js'
import type { CapacityCounter } from '../client/options.js'
import { ServerClock } from '../client/server-clock.js'
import type { OpenStoreOptions, StoreSettings } from '../options.js'
import { describeTables, differencesOf } from '../tables/table-state.js'
import { type DynamodbUrl, redactDynamodb } from '../url.js'
import { Adoption, type StoreIdentity } from './adoption.js'
import { Catalog } from './catalog.js'
import { DueTasks } from './due.js'
import { DEFAULT_STORE_SETTINGS, type Store } from './store.js'
import { AppliedChanges, Tokens } from './tokens.js'

const ROLES = ['allowlists', 'giant', 'idempotency', 'guards'] as const

export interface OpenedStore extends Store {
  readonly identity: StoreIdentity
  readonly adoption: Adoption
  readonly capacity: CapacityCounts
  readonly serverClock: ServerClock
  readonly dax: DaxReader | undefined
  /** Number of failed attempts so far. */
  connectionFailures(): number
  close(): void
}

/** Opens the tables, or throws if something is wrong with them. */
export async function openStore(url: DynamodbUrl, options: OpenStoreOptions): Promise<OpenedStore> {
  const { region, endpoint, tables } = url
  const { daxEndpoint, counter, checkTables = true, now, report, ...given } = options
  const settings = settingsOf(given)
  const capacity = new CapacityCounts()
  const serverClock = new ServerClock(now)
  let connectionFailures = 0
  const client = new DynamoClient({
    ...given,
    serverClock,
    onConnectionFailure: () => connectionFailures++,
    region,
    ...(endpoint !== undefined && { endpoint }),
    counter: counter === undefined ? capacity : both(capacity, counter),
  })
  let dax: DaxReader | undefined
  try {
    if (checkTables) await refuseOtherTables(client, url)
    const { credentials } = given
    if (daxEndpoint !== undefined) {
      const told = report === undefined ? {} : { report }
      const own = credentials === undefined ? {} : { credentials }
      dax = await openDax({ region, daxEndpoint, ...own, ...told }, client)
    }
    const adoption = new Adoption(client, tables)
    const identity = await adoption.open()
    if ((identity.unserved ?? 0) > 0) report?.(unservedNote(identity.unserved!), undefined)
    const catalog = new Catalog(client, tables.allowlists, settings)
    catalog.onForeign = (list) => adoption.noticed(list)
    const applied = new AppliedChanges()
    return {
      client,
      reader: dax ?? client,
      tables,
      catalog,
      due: new DueTasks(client, tables.allowlists),
      tokens: new Tokens(identity.id, applied),
      applied,
      settings,
      identity,
      adoption,
      capacity,
      serverClock,
      dax,
      connectionFailures: () => connectionFailures,
      close() {
        dax?.close()
        client.close()
      },
    }
  } catch (error) {
    dax?.close()
    client.close()
    throw error
  }
}

const unservedNote = (count: number): string =>
  `${count} rows that other programs wrote are not found by checks: catraca dynamodb adopt lists them, and what to do`

function settingsOf(options: Partial<StoreSettings>): StoreSettings {
  const settings = { ...DEFAULT_STORE_SETTINGS }
  for (const name of Object.keys(settings) as (keyof StoreSettings)[])
    settings[name] = options[name] ?? settings[name]
  return settings
}

async function refuseOtherTables(client: DynamoClient, url: DynamodbUrl): Promise<void> {
  const states = await describeTables(client.sdk, url.tables, ROLES)
  const blocking = states.flatMap(differencesOf).filter(({ blocks }) => blocks)
  if (blocking.length === 0) return
  const told = blocking.map(
    ({ table, what, expected, found }) => `${table}: ${what} must be ${expected}, is ${found}`,
  )
  const command = `catraca dynamodb create --store '${redactDynamodb(url)}'`
  throw new CatracaError('STORE_UNUSABLE', `${told.join('; ')}. To create the tables: ${command}`)
}

function both(one: CapacityCounter, two: CapacityCounter): CapacityCounter {
  return {
    used(use) {
      one.used(use)
      two.used(use)
    },
    refused(verb, operation) {
      one.refused(verb, operation)
      two.refused(verb, operation)
    },
    retried(verb, operation, times) {
      one.retried(verb, operation, times)
      two.retried(verb, operation, times)
    },
  }
}
