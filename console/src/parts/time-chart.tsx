import 'uplot/dist/uPlot.min.css'
import { Table, useComputedColorScheme } from '@mantine/core'
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useFormat, useTexts } from '../texts/language.js'
import { chartOptions, type Tone } from './time-chart-options.js'

export interface ChartSeries {
  label: string
  /** One for each time; null leaves a gap. */
  values: readonly (number | null)[]
  tone: Tone
}

export interface TimeChartProps {
  title: string
  /** Seconds since 1970, ascending. */
  times: readonly number[]
  /** Length of the axis in seconds, up to the last time. */
  spanSeconds: number
  series: readonly ChartSeries[]
  format(value: number): string
  /** Times are UTC days and are shown as such. */
  days?: boolean
  /** `format` shows whole numbers only. */
  whole?: boolean
  /** Seconds at which something changed, marked below the lines. */
  marks?: readonly number[]
  /** Charts of one group share the moment under the pointer. */
  group?: string
}

const TABLE_ROWS = 12

/** Lines over time. The figures are also in text and in a table, for users who cannot see the chart. */
export function TimeChart(props: TimeChartProps) {
  const { title, series, times, format } = props
  const titleId = useId()
  const [pointed, setPointed] = useState<number>()
  const index = pointed ?? times.length - 1
  const time = useTimeName(props.days)
  const at = times[index]
  return (
    <figure className="chart" aria-labelledby={titleId}>
      <figcaption className="chart-head">
        <span className="chart-title" id={titleId}>
          {title}
        </span>
        {pointed !== undefined && at !== undefined && <span className="detail">{time(at * 1000)}</span>}
      </figcaption>
      <ul className="chart-legend">
        {series.map(({ label, values, tone }) => (
          <li key={label}>
            <span className={`swatch swatch-${tone}`} />
            {label} <strong className="figure">{shown(values[index], format)}</strong>
          </li>
        ))}
      </ul>
      <Canvas {...props} onPoint={setPointed} />
      <AsTable {...props} />
    </figure>
  )
}

function useTimeName(days = false): (ms: number) => string {
  const { clock, dayUtc } = useFormat()
  return days ? dayUtc : clock
}

const shown = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value)

function Canvas(props: TimeChartProps & { onPoint(index: number | undefined): void }) {
  const {
    times,
    series,
    spanSeconds,
    format,
    group,
    onPoint,
    days = false,
    whole = false,
    marks = [],
  } = props
  const marksId = marks.join(' ')
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const scheme = useComputedColorScheme()
  const words = useFormat()
  const tones = series.map(({ tone }) => tone).join(' ')
  const data = useMemo(
    () => [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData,
    [times, series],
  )
  const latest = useRef({ data, format, onPoint })
  latest.current = { data, format, onPoint }

  // biome-ignore lint/correctness/useExhaustiveDependencies: redraws for other colours or another language.
  useEffect(() => {
    const element = place.current!
    const options = chartOptions({
      tones: tones.split(' ') as Tone[],
      spanSeconds,
      group,
      marks,
      width: element.clientWidth,
      format: (value) => latest.current.format(value),
      days,
      whole,
      time: (seconds) => (days ? words.dayUtc : words.hourMinute)(seconds * 1000),
      onPoint: (index) => latest.current.onPoint(index),
    })
    const drawn = new uPlot(options, latest.current.data, element)
    chart.current = drawn
    const sizes = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: options.height }),
    )
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      drawn.destroy()
    }
  }, [scheme, words, tones, spanSeconds, group, days, whole, marksId])

  useEffect(() => chart.current?.setData(data), [data])
  return <div ref={place} className="chart-canvas" role="img" aria-label={useSummary(props)} />
}

/** The chart as a sentence. */
function useSummary({ title, series, format }: TimeChartProps): string {
  const { common } = useTexts()
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    if (known.length === 0) return common.chartNothing(label)
    const [last, least, most] = [known.at(-1)!, Math.min(...known), Math.max(...known)]
    return common.chartSummary(label, format(last), format(least), format(most))
  })
  return `${title}. ${parts.join(' ')}`
}

function AsTable({ title, times, series, format, days }: TimeChartProps) {
  const { common } = useTexts()
  const time = useTimeName(days)
  const [opened, setOpened] = useState(false)
  const step = Math.max(1, Math.ceil(times.length / TABLE_ROWS))
  const rows = times.map((_, index) => index).filter((index) => (times.length - 1 - index) % step === 0)
  return (
    <details className="chart-table" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        {common.showTable}
        <span className="visually-hidden"> {title}</span>
      </summary>
      {opened && (
        <Table verticalSpacing={2} fz="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{common.time}</Table.Th>
              {series.map(({ label }) => (
                <Table.Th key={label} ta="right">
                  {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((index) => (
              <Table.Tr key={times[index]}>
                <Table.Td>{time(times[index]! * 1000)}</Table.Td>
                {series.map(({ label, values }) => (
                  <Table.Td key={label} ta="right" className="figure">
                    {shown(values[index], format)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </details>
  )
}
