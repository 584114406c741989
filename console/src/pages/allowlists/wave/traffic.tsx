import { ApiProblem, api } from '../../../api/client.js'
import { useQuery } from '../../../data/use-query.js'
import { TimeChart } from '../../../parts/time-chart.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import type { Entry } from '../../audit/audit.js'
import { type Figures, figuresOf } from '../../overview/series.js'

const POLL_MS = 5_000
const MINUTES = 60

async function load(signal: AbortSignal): Promise<{ figures: Figures | undefined }> {
  try {
    return { figures: figuresOf(await api.getSeries({ minutes: MINUTES }, { signal })) }
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { figures: undefined }
    throw error
  }
}

/** Checks of the last hour with the changes of the wave, to see what a change did. */
export function Traffic({ entries }: { entries: readonly Entry[] }) {
  const { waves, overview } = useTexts()
  const texts = waves.traffic
  const format = useFormat()
  const { data } = useQuery('wave traffic', load, { pollMs: POLL_MS })
  const figures = data?.figures
  if (figures === undefined || figures.times.length === 0) return null
  return (
    <TimeChart
      title={texts.title}
      times={figures.times}
      spanSeconds={MINUTES * 60}
      series={[
        { label: overview.allowed, values: figures.of('allowedPerSecond'), tone: 'good' },
        { label: overview.denied, values: figures.of('deniedPerSecond'), tone: 'bad' },
      ]}
      marks={entries.map(({ at }) => Date.parse(at) / 1000)}
      format={format.rate}
    />
  )
}
