import type { StoreFigures } from '../app/engine-figures.js'
import type { MetricFacts, MetricGroup } from './group.js'
import type { Labels, MetricsRegistry, Reading } from './registry.js'

type RedisNode = NonNullable<StoreFigures['redisServers']>[number]

const fact = (
  type: 'counter' | 'gauge',
  name: string,
  labels: string[],
  help: string,
  together: MetricFacts['together'] = 'sum',
): MetricFacts => ({ name, type, help, labels, together })

const units = fact(
  'counter',
  'catraca_dynamodb_consumed_units_total',
  ['table', 'kind'],
  'Capacity units that DynamoDB reported for calls of this process: read or write.',
)
const dynamodbCalls = fact(
  'counter',
  'catraca_dynamodb_calls_total',
  ['verb', 'operation'],
  'Answered calls to DynamoDB, by engine verb and by DynamoDB operation.',
)
const retries = fact(
  'counter',
  'catraca_dynamodb_retries_total',
  ['verb', 'operation'],
  'Retries of calls to DynamoDB.',
)
const refused = fact(
  'counter',
  'catraca_dynamodb_refused_writes_total',
  ['verb', 'operation'],
  'Conditional writes that DynamoDB refused. They cost capacity, which DynamoDB does not report.',
)
const daxUp = fact(
  'gauge',
  'catraca_dynamodb_dax_up',
  [],
  'Whether DAX answered the last read: 1 or 0. While it does not, reads go to DynamoDB. Absent without DAX.',
  'min',
)
const daxMissed = fact(
  'counter',
  'catraca_dynamodb_dax_missed_reads_total',
  [],
  'Reads that DynamoDB answered because DAX did not.',
)
const fileBytes = fact(
  'gauge',
  'catraca_embedded_file_bytes',
  ['file'],
  'Size of the files of the embedded store: store, limits, cache.',
  'max',
)
const freeBytes = fact(
  'gauge',
  'catraca_embedded_free_bytes',
  [],
  'Free space on the disk of the embedded store.',
  'min',
)

type ServerFigure =
  | 'connectedClients'
  | 'usedMemoryBytes'
  | 'maxmemoryBytes'
  | 'evictedKeys'
  | 'keyspaceHits'
  | 'keyspaceMisses'
  | 'commandsProcessed'

/** All workers of a server read the same Redis, so the largest, newest value counts. */
const redis = (type: 'counter' | 'gauge', name: string, help: string): MetricFacts =>
  fact(type, name, ['server'], help, 'max')

const SERVER_METRICS: readonly [ServerFigure, MetricFacts][] = [
  [
    'connectedClients',
    redis('gauge', 'redis_connected_clients', 'Clients that are connected to the server.'),
  ],
  ['usedMemoryBytes', redis('gauge', 'redis_memory_used_bytes', 'Memory that the server uses.')],
  [
    'maxmemoryBytes',
    redis('gauge', 'redis_memory_max_bytes', 'Memory limit of the server (maxmemory); 0: no limit.'),
  ],
  ['evictedKeys', redis('counter', 'redis_evicted_keys_total', 'Keys that the server evicted.')],
  ['keyspaceHits', redis('counter', 'redis_keyspace_hits_total', 'Key lookups that found the key.')],
  [
    'keyspaceMisses',
    redis('counter', 'redis_keyspace_misses_total', 'Key lookups that did not find the key.'),
  ],
  [
    'commandsProcessed',
    redis('counter', 'redis_commands_processed_total', 'Commands that the server executed.'),
  ],
]

const holdsCache = redis(
  'gauge',
  'redis_holds_cache',
  'Whether the second tier of the cache is on the server: 1, or 0.',
)

export const storeMetrics: MetricGroup = {
  title: 'Stores',
  metrics: [
    units,
    dynamodbCalls,
    retries,
    refused,
    daxUp,
    daxMissed,
    fileBytes,
    freeBytes,
    ...SERVER_METRICS.map(([, facts]) => facts),
    holdsCache,
  ],
  register(registry, { catraca: { engineFigures } }) {
    const figures = () => engineFigures.figures()
    registerCapacity(registry, figures)
    const dax = async () => (await figures()).flatMap(({ dax }) => dax ?? [])
    registry.read(daxUp, async () => {
      const states = await dax()
      return states.length === 0 ? [] : [[states.every(({ status }) => status === 'healthy') ? 1 : 0]]
    })
    registry.read(daxMissed, async () => summed((await dax()).map(({ missedReads }) => [missedReads, {}])))
    registry.read(fileBytes, async () => {
      const files = (await figures()).flatMap(({ diskUse }) => diskUse?.files ?? [])
      return summed(files.map(({ file, sizeBytes }) => [sizeBytes, { file }]))
    })
    registry.read(freeBytes, async () => {
      const free = (await figures()).flatMap(({ diskUse }) => diskUse?.freeBytes ?? [])
      return free.length === 0 ? [] : [[Math.min(...free)]]
    })
    for (const [name, facts] of SERVER_METRICS)
      registry.read(facts, async () => ofServers(await figures(), ({ [name]: value }) => value))
    registry.read(holdsCache, async () => {
      const all = await figures()
      const holding = new Set(
        all.filter((store) => store.holdsCache).flatMap(({ redisServers = [] }) => addressesOf(redisServers)),
      )
      return ofServers(all, ({ address }) => (holding.has(address) ? 1 : 0))
    })
  },
}

function registerCapacity(registry: MetricsRegistry, figures: () => Promise<StoreFigures[]>): void {
  const rows = async () => (await figures()).flatMap(({ capacity }) => capacity?.rows() ?? [])
  const retried = async () => (await figures()).flatMap(({ capacity }) => capacity?.retries() ?? [])
  registry.read(units, async () =>
    summed(
      (await rows()).flatMap(({ table, readUnits, writeUnits }): Reading[] => [
        [readUnits, { table, kind: 'read' }],
        [writeUnits, { table, kind: 'write' }],
      ]),
    ),
  )
  registry.read(dynamodbCalls, async () =>
    summed((await rows()).map(({ verb, operation, calls }) => [calls, { verb, operation }])),
  )
  registry.read(retries, async () =>
    summed((await retried()).map(({ verb, operation, retried }) => [retried, { verb, operation }])),
  )
  registry.read(refused, async () =>
    summed((await retried()).map(({ verb, operation, refused }) => [refused, { verb, operation }])),
  )
}

/** Two stores may be databases of one server. */
function ofServers(
  figures: readonly StoreFigures[],
  read: (node: RedisNode) => number | undefined,
): Reading[] {
  const servers = new Map(
    figures.flatMap((each) => each.redisServers ?? []).map((node) => [node.address, node]),
  )
  return [...servers].flatMap(([server, node]): Reading[] => {
    const value = read(node)
    return value === undefined ? [] : [[value, { server }]]
  })
}

const addressesOf = (nodes: readonly RedisNode[]): string[] => nodes.map(({ address }) => address)

/** One value for each set of labels: Prometheus refuses a duplicate series. */
function summed(readings: readonly Reading[]): Reading[] {
  const sums = new Map<string, [number, Labels]>()
  for (const [value, labels = {}] of readings) {
    const key = JSON.stringify(labels)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, [value, labels])
    else sum[0] += value
  }
  return [...sums.values()]
}
