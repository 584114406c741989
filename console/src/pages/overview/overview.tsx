import { Skeleton } from '@mantine/core'
import { ApiProblem, api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { Charts } from './charts.js'
import { HealthPanel } from './health-panel.js'
import { type Figures, figuresOf } from './series.js'
import { Tiles } from './tiles.js'

const POLL_MS = 5_000
const MINUTES = 60

/** Undefined when the server collects no metrics. */
async function loadFigures(signal: AbortSignal): Promise<{ figures: Figures | undefined }> {
  try {
    return { figures: figuresOf(await api.getSeries({ minutes: MINUTES }, { signal })) }
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { figures: undefined }
    throw error
  }
}

export default function OverviewPage() {
  const { overview: texts } = useTexts()
  const { data, loading, problem, reload } = useQuery('series', loadFigures, { pollMs: POLL_MS })
  return (
    <Page title={texts.title} lead={texts.lead}>
      <ProblemView problem={problem} retry={reload} />
      {loading && <Skeleton height={96} radius="md" />}
      {data !== undefined && data.figures === undefined && <div className="notice">{texts.metricsOff}</div>}
      {data?.figures !== undefined && (
        <>
          <Tiles figures={data.figures} />
          {data.figures.times.length === 0 && <div className="notice">{texts.starting}</div>}
          <Charts figures={data.figures} spanSeconds={MINUTES * 60} />
        </>
      )}
      <HealthPanel />
    </Page>
  )
}
