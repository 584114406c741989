import { SegmentedControl, Skeleton } from '@mantine/core'
import { useSearchParams } from 'wouter'
import { ApiProblem, api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { Attention } from './attention.js'
import { Charts } from './charts.js'
import { Denials } from './denials.js'
import { FirstRun } from './first-run.js'
import { FleetSums } from './fleet-sums.js'
import { HealthPanel, useHealth } from './health-panel.js'
import { LastChanges } from './last-changes.js'
import { type Figures, figuresOf } from './series.js'
import { Tiles } from './tiles.js'

const POLL_MS = 5_000
/** Minutes that the charts show. The server keeps an hour. */
const RANGES = ['5', '15', '60'] as const
type Range = (typeof RANGES)[number]

/** Undefined when the server collects no metrics. */
async function loadFigures(minutes: number, signal: AbortSignal): Promise<{ figures: Figures | undefined }> {
  try {
    return { figures: figuresOf(await api.getSeries({ minutes }, { signal })) }
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { figures: undefined }
    throw error
  }
}

export default function OverviewPage() {
  const { overview: texts } = useTexts()
  const { can, reachesAll } = useSignedIn()
  const [search, setSearch] = useSearchParams()
  const range = RANGES.find((minutes) => minutes === search.get('minutes')) ?? '60'
  const series = useQuery(`series ${range}`, (signal) => loadFigures(Number(range), signal), {
    pollMs: POLL_MS,
    keepPrevious: true,
  })
  const health = useHealth()
  const { data } = series
  const degraded = Math.round(data?.figures?.total('degradedPerSecond') ?? 0)
  return (
    <Page title={texts.title}>
      <FirstRun />
      <Attention health={health.data} degraded={degraded} />
      <ProblemView problem={series.problem} retry={series.reload} />
      {series.loading && <Skeleton height={96} radius="md" />}
      {data !== undefined && data.figures === undefined && <div className="notice">{texts.metricsOff}</div>}
      {data?.figures !== undefined && (
        <Panel
          title={texts.traffic}
          lead={texts.trafficLead}
          actions={
            <RangeChoice range={range} onRange={(minutes) => setSearch({ minutes }, { replace: true })} />
          }
        >
          <Tiles figures={data.figures} range={texts.ranges[range]} />
          {data.figures.times.length === 0 && <div className="notice">{texts.starting}</div>}
          <Charts figures={data.figures} spanSeconds={Number(range) * 60} />
        </Panel>
      )}
      <div className="beside">
        {can('admin') && <LastChanges />}
        <Denials />
      </div>
      {reachesAll && <FleetSums />}
      <HealthPanel query={health} />
    </Page>
  )
}

function RangeChoice({ range, onRange }: { range: Range; onRange(range: Range): void }) {
  const { overview: texts } = useTexts()
  return (
    <SegmentedControl
      size="xs"
      aria-label={texts.range}
      value={range}
      onChange={(value) => onRange(value as Range)}
      data={RANGES.map((value) => ({ value, label: texts.ranges[value] }))}
    />
  )
}
