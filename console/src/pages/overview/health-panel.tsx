import { ApiProblem, api, type HealthAnswer } from '../../api/client.js'
import { type Query, useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Folded } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { useFormat, useTexts } from '../../texts/language.js'

type Engine = HealthAnswer['engines'][number]

/** The cache figures that are shown. */
interface CacheFigures {
  bloomFiltersCount?: number
  verificationCacheSize?: number
  estimatedMemoryMB?: number
}

const POLL_MS = 5_000

/** A server that cannot serve responds 503, and still reports the state of every engine. */
async function loadHealth(signal: AbortSignal): Promise<HealthAnswer> {
  try {
    return await api.health({}, { signal })
  } catch (error) {
    const body =
      error instanceof ApiProblem && error.status === 503 ? (error.body as HealthAnswer) : undefined
    if (Array.isArray(body?.engines)) return body
    throw error
  }
}

export const useHealth = (): Query<HealthAnswer> => useQuery('health', loadHealth, { pollMs: POLL_MS })

export function HealthPanel({ query }: { query: Query<HealthAnswer> }) {
  const { overview: texts, common } = useTexts()
  const columns: Column<Engine>[] = [
    { name: 'name', header: texts.engine, cell: ({ name }) => <strong>{name}</strong> },
    { name: 'status', header: texts.state, cell: ({ status }) => <HealthState status={status} /> },
    { name: 'facts', header: texts.facts, cell: (engine) => <EngineFacts engine={engine} /> },
  ]
  const health = query.data
  return (
    <Folded
      title={texts.health}
      note={health === undefined ? undefined : <HealthState status={health.status} />}
    >
      <div className="panel panel-flush">
        <DataTable
          label={texts.health}
          columns={columns}
          rows={health?.engines}
          rowKey={({ name }) => name}
          query={query}
        />
        {health !== undefined && (
          <ProcessFacts health={health} store={common.store} version={common.version} />
        )}
      </div>
    </Folded>
  )
}

function HealthState({ status }: { status: string }) {
  const { overview: texts } = useTexts()
  const healthy = status === 'healthy'
  return <State kind={healthy ? 'good' : 'bad'}>{healthy ? texts.healthy : texts.unhealthy}</State>
}

/** Facts that an engine reports; the engine chooses their names. */
function EngineFacts({ engine: { name: _, status: __, ...facts } }: { engine: Engine }) {
  const format = useFormat()
  const { overview: texts } = useTexts()
  const names: Partial<Record<string, string>> = texts.engineFacts
  const shown = (fact: string, value: unknown): string => {
    if (fact === 'monthlyCost') return `$${format.number((value as { dollars: number }).dollars, 2)}`
    if (typeof value === 'number' && fact.endsWith('Ms')) return format.microseconds(value * 1000)
    if (typeof value === 'number') return /bytes$/i.test(fact) ? format.bytes(value) : format.number(value, 2)
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  return (
    <span className="engine-facts">
      {Object.entries(facts).map(([fact, value]) => (
        <span key={fact}>
          <span className="detail">{names[fact] ?? fact}</span> {shown(fact, value)}
        </span>
      ))}
    </span>
  )
}

function ProcessFacts({ health, store, version }: { health: HealthAnswer; store: string; version: string }) {
  const { overview: texts } = useTexts()
  const format = useFormat()
  const cache = (health.cache ?? {}) as CacheFigures
  const facts: [string, string][] = [
    [store, health.store],
    [version, health.version],
    [texts.uptime, format.uptime(health.uptime)],
    [texts.lists, format.number(cache.bloomFiltersCount ?? 0)],
    [texts.memory, format.bytes((cache.estimatedMemoryMB ?? 0) * 1_000_000)],
    [texts.verified, format.number(cache.verificationCacheSize ?? 0)],
  ]
  return (
    <dl className="fact-row">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
