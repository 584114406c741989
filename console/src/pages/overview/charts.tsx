import { Title } from '@mantine/core'
import { useMemo } from 'react'
import { type ChartSeries, TimeChart } from '../../parts/time-chart.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { Figures } from './series.js'

interface Drawn {
  title: string
  series: ChartSeries[]
  format(value: number): string
}

export function Charts({ figures, spanSeconds }: { figures: Figures; spanSeconds: number }) {
  const { overview: texts } = useTexts()
  const drawn = useDrawn(figures)
  return (
    <section aria-label={texts.charts}>
      <Title order={2} className="visually-hidden">
        {texts.charts}
      </Title>
      <div className="charts">
        {drawn.map((chart) => (
          <TimeChart
            key={chart.title}
            {...chart}
            times={figures.times}
            spanSeconds={spanSeconds}
            group="overview"
          />
        ))}
      </div>
    </section>
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
