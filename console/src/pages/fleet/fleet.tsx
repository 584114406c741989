import { useMemo } from 'react'
import { api, type FleetView } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { TimeChart } from '../../parts/time-chart.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { NotFollowed } from './not-followed.js'
import { lagText, Processes } from './processes.js'
import { FleetTiles } from './sums.js'
import { useLagHistory } from './use-lag-history.js'

/** With the time that the server keeps a view, a dead process is gone within its bound of 5 s. */
const POLL_MS = 1_000
const SPAN_SECONDS = 600

export default function FleetPage() {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  const query = useQuery('fleet', (signal) => api.getFleet({}, { signal }), { pollMs: POLL_MS })
  const { data: fleet } = query
  const bound = fleet?.enabled ? ` ${texts.bound(format.number(boundSeconds(fleet)))}` : ''
  return (
    <Page title={texts.title} lead={texts.lead + bound}>
      {fleet !== undefined && <ProblemView problem={query.problem} retry={query.reload} />}
      {fleet !== undefined && !fleet.enabled ? (
        <div className="notice">{texts.off}</div>
      ) : (
        <>
          {fleet !== undefined && <MixedVersions fleet={fleet} />}
          {fleet !== undefined && (
            <Panel title={texts.sums}>
              <FleetTiles fleet={fleet} />
            </Panel>
          )}
          <Processes fleet={fleet} query={query} />
          {fleet !== undefined && <Freshness fleet={fleet} at={query.at} />}
          {fleet !== undefined && <NotFollowed fleet={fleet} />}
        </>
      )}
    </Page>
  )
}

/** The record of the process, what the server keeps of its last look, and the next question of this page. */
const boundSeconds = ({ expireMs }: FleetView): number => (expireMs > 5_000 ? 30 : 5)

function MixedVersions({ fleet: { versions } }: { fleet: FleetView }) {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  if (versions.length < 2) return null
  const named = versions.map(({ version, processes }) => texts.versionOf(version, format.number(processes)))
  return (
    <div className="notice" role="status">
      <strong>{texts.mixed}.</strong> {texts.mixedText(named.join(', '))}
    </div>
  )
}

function Freshness({ fleet, at }: { fleet: FleetView; at: number | undefined }) {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  const history = useLagHistory(fleet, at)
  const series = useMemo(
    () => [
      { label: texts.worst, values: history.worst, tone: 'high' as const },
      { label: texts.median, values: history.median, tone: 'low' as const },
    ],
    [texts, history],
  )
  return (
    <Panel title={texts.freshness}>
      <TimeChart
        title={texts.freshnessChart}
        times={history.times}
        spanSeconds={SPAN_SECONDS}
        series={series}
        whole
        format={(ms) => lagText(format, ms)}
      />
    </Panel>
  )
}
