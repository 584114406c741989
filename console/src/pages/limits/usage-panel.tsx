import { SegmentedControl, Skeleton } from '@mantine/core'
import { useMemo, useState } from 'react'
import { api, type GetUsageAnswer } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { type ChartSeries, TimeChart } from '../../parts/time-chart.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { SubjectProps } from './entity.js'
import { FoldedCurl } from './folded-curl.js'
import { limitsPath } from './live-panel.js'

type Step = 'hour' | 'day'

const STEP_SECONDS: Record<Step, number> = { hour: 3600, day: 86_400 }
const STEPS_SHOWN: Record<Step, number> = { hour: 24, day: 31 }
const POLL_MS = 15_000

/** Cost admitted and denied, by limit. */
export function UsagePanel({ entity, resource }: SubjectProps) {
  const { limits: texts } = useTexts()
  const [step, setStep] = useState<Step>('hour')
  const query = useQuery(step, (signal) => api.getUsage({ entity, resource, step }, { signal }), {
    pollMs: POLL_MS,
  })
  const names = [...new Set(query.data?.items.map(({ limit }) => limit) ?? [])].sort()
  return (
    <Panel
      title={texts.usage}
      lead={texts.usageLead}
      actions={
        <SegmentedControl
          aria-label={texts.usageStep}
          size="xs"
          value={step}
          onChange={(value) => setStep(value as Step)}
          data={[
            { value: 'hour', label: texts.perHour },
            { value: 'day', label: texts.perDay },
          ]}
        />
      }
    >
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={170} radius="md" />}
      {query.data !== undefined && names.length === 0 && <p className="detail">{texts.noUsage}</p>}
      <div className="charts">
        {names.map((name) => (
          <UsageChart key={`${step} ${name}`} name={name} step={step} items={query.data!.items} />
        ))}
      </div>
      <FoldedCurl path={`${limitsPath({ entity, resource })}/usage?step=${step}`} />
    </Panel>
  )
}

interface UsageChartProps {
  name: string
  step: Step
  items: GetUsageAnswer['items']
}

function UsageChart({ name, step, items }: UsageChartProps) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const { times, admitted, denied } = useMemo(() => stepsOf(name, step, items), [name, step, items])
  const series = useMemo(
    (): ChartSeries[] => [
      { label: texts.admitted, values: admitted, tone: 'good' },
      { label: texts.deniedCost, values: denied, tone: 'bad' },
    ],
    [texts, admitted, denied],
  )
  return (
    <TimeChart
      title={name}
      times={times}
      spanSeconds={STEP_SECONDS[step] * (STEPS_SHOWN[step] - 1)}
      series={series}
      format={format.number}
      days={step === 'day'}
      group="usage"
    />
  )
}

/** All steps up to now; the server returns only those with usage. */
function stepsOf(name: string, step: Step, items: GetUsageAnswer['items']) {
  const seconds = STEP_SECONDS[step]
  const last = Math.floor(serverNow() / 1000 / seconds) * seconds
  const times = Array.from({ length: STEPS_SHOWN[step] }, (_, index) => {
    return last - (STEPS_SHOWN[step] - 1 - index) * seconds
  })
  const known = new Map(
    items.filter(({ limit }) => limit === name).map((item) => [Date.parse(item.start) / 1000, item]),
  )
  return {
    times,
    admitted: times.map((time) => known.get(time)?.admitted ?? 0),
    denied: times.map((time) => known.get(time)?.denied ?? 0),
  }
}
