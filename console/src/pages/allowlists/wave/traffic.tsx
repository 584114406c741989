import { ApiProblem, api, type GetListTrafficAnswer } from '../../../api/client.js'
import { useQuery } from '../../../data/use-query.js'
import { TimeChart } from '../../../parts/time-chart.js'
import { spanOf } from '../../../parts/time-chart-options.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import type { Entry } from '../../audit/audit.js'

const POLL_MS = 10_000
const MINUTES = 60

async function load(id: string, signal: AbortSignal): Promise<{ traffic: GetListTrafficAnswer | undefined }> {
  try {
    return { traffic: await api.getListTraffic({ id, minutes: MINUTES }, { signal }) }
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { traffic: undefined }
    throw error
  }
}

export interface TrafficProps {
  id: string
  entries: readonly Entry[]
}

/** Checks of this wave in the last hour, with its changes: to see what a change did. */
export function Traffic({ id, entries }: TrafficProps) {
  const { waves, overview } = useTexts()
  const texts = waves.traffic
  const format = useFormat()
  const { data } = useQuery(`traffic ${id}`, (signal) => load(id, signal), { pollMs: POLL_MS })
  if (data?.traffic === undefined) return null
  const { stepSeconds, from, allowed, denied } = data.traffic
  const [admitted, refused] = [sum(allowed), sum(denied)]
  if (admitted + refused === 0) return <p className="detail">{texts.nothing}</p>
  const perSecond = (counts: readonly number[]): number[] => counts.map((each) => each / stepSeconds)
  const start = Date.parse(from) / 1000
  const times = allowed.map((_, step) => start + (step + 1) * stepSeconds)
  return (
    <div>
      <TimeChart
        title={texts.title}
        times={times}
        spanSeconds={spanOf(times, MINUTES * 60)}
        series={[
          { label: overview.allowed, values: perSecond(allowed), tone: 'good' },
          { label: overview.denied, values: perSecond(denied), tone: 'bad' },
        ]}
        marks={entries.map(({ at }) => Date.parse(at) / 1000)}
        format={format.rate}
      />
      <p className="detail">{texts.sums(format.number(admitted), format.number(refused))}</p>
    </div>
  )
}

const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0)
