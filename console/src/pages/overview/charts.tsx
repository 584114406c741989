import { useMemo, useState } from 'react'
import { type ChartSeries, TimeChart } from '../../parts/time-chart.js'
import { spanOf } from '../../parts/time-chart-options.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { Figures } from './series.js'

interface Drawn {
  title: string
  series: ChartSeries[]
  format(value: number): string
}

/** Charts that are shown at once; the others are folded. */
const FIRST = 2

export function Charts({ figures, spanSeconds }: { figures: Figures; spanSeconds: number }) {
  const { overview: texts } = useTexts()
  const [opened, setOpened] = useState(false)
  const drawn = useDrawn(figures)
  const chartOf = (chart: Drawn) => (
    <TimeChart
      key={chart.title}
      {...chart}
      times={figures.times}
      spanSeconds={spanOf(figures.times, spanSeconds)}
      group="overview"
    />
  )
  return (
    <>
      <div className="charts">{drawn.slice(0, FIRST).map(chartOf)}</div>
      <details className="steps" onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>{texts.moreCharts}</summary>
        {opened && <div className="charts">{drawn.slice(FIRST).map(chartOf)}</div>}
      </details>
    </>
  )
}

function useDrawn({ of }: Figures): Drawn[] {
  const { overview: texts } = useTexts()
  const format = useFormat()
  return useMemo(() => {
    const percent = (value: number): string => format.percent(value, 1)
    const ms = (value: number): string => format.microseconds(value * 1000)
    const percentiles = (kind: 'check' | 'http'): ChartSeries[] => [
      { label: texts.p50, values: of(`${kind}P50Ms`), tone: 'low' },
      { label: texts.p95, values: of(`${kind}P95Ms`), tone: 'middle' },
      { label: texts.p99, values: of(`${kind}P99Ms`), tone: 'high' },
    ]
    const passed = (allowed: string, denied: string): ChartSeries[] => [
      { label: texts.allowed, values: of(allowed), tone: 'good' },
      { label: texts.denied, values: of(denied), tone: 'bad' },
    ]
    return [
      {
        title: texts.chartChecks,
        series: passed('allowedPerSecond', 'deniedPerSecond'),
        format: format.rate,
      },
      { title: texts.chartLatency, series: percentiles('check'), format: ms },
      {
        title: texts.chartHits,
        series: [
          { label: texts.checksFromMemory, values: of('fromMemoryShare'), tone: 'main' },
          { label: texts.cacheHits, values: of('cacheHitShare'), tone: 'middle' },
        ],
        format: percent,
      },
      { title: texts.chartHttp, series: percentiles('http'), format: ms },
      {
        title: texts.chartLimits,
        series: passed('limitsAllowedPerSecond', 'limitsDeniedPerSecond'),
        format: format.rate,
      },
      {
        title: texts.chartDegraded,
        series: [{ label: texts.degradedLine, values: of('degradedPerSecond'), tone: 'bad' }],
        format: format.rate,
      },
    ]
  }, [of, texts, format])
}
