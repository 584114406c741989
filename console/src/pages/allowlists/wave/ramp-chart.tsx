import 'uplot/dist/uPlot.min.css'
import { Table, useComputedColorScheme } from '@mantine/core'
import { useEffect, useId, useMemo, useRef } from 'react'
import uPlot from 'uplot'
import { useLanguage, useTexts } from '../../../texts/language.js'
import { pictureOf, rampOptions } from './ramp-picture.js'
import { type Rule, shareNow, turns } from './rule.js'
import { useWords } from './use-words.js'

export interface RampChartProps {
  rule: Rule
  /** The rule to compare with. */
  saved: Rule | undefined
  /** When the wave was changed. */
  marks: readonly number[]
  now: number
  zone: string
}

/** The share over time as steps, with a line at the present; also in words and as a table. */
export function RampChart(props: RampChartProps) {
  const { rule, saved } = props
  const { waves } = useTexts()
  const texts = waves.ramp
  const titleId = useId()
  return (
    <figure className="ramp-chart" aria-labelledby={titleId}>
      <figcaption className="chart-head">
        <span className="chart-title" id={titleId}>
          {texts.chart}
        </span>
        {saved !== undefined && (
          <ul className="chart-legend">
            <li>
              <span className="swatch" /> {texts.changed}
            </li>
            <li>
              <span className="swatch swatch-middle" /> {texts.saved}
            </li>
          </ul>
        )}
      </figcaption>
      <Canvas {...props} />
      <AsTable {...props} rule={rule} />
    </figure>
  )
}

function Canvas({ rule, saved, marks, now, zone }: RampChartProps) {
  const { waves } = useTexts()
  const { language } = useLanguage()
  const words = useWords(zone)
  const scheme = useComputedColorScheme()
  const place = useRef<HTMLDivElement>(null)
  const id = JSON.stringify([rule, saved, marks])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each rendering creates new rules; `id` compares them.
  const picture = useMemo(() => pictureOf(rule, saved, now, marks), [id, now])
  // biome-ignore lint/correctness/useExhaustiveDependencies: redraws for other colours.
  useEffect(() => {
    const element = place.current!
    const options = rampOptions(picture, {
      language,
      zone,
      nowLabel: waves.ramp.nowMarker,
      width: element.clientWidth,
      share: words.share,
    })
    const chart = new uPlot(options, picture.data, element)
    const sizes = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: options.height }),
    )
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      chart.destroy()
    }
  }, [picture, language, zone, scheme, words, waves])
  const steps = turns(rule).map((at) => waves.ramp.step(words.moment(at), words.share(shareNow(rule, at))))
  const summary = waves.ramp.summary(words.share(shareNow(rule, now)), steps.join(' '))
  return (
    <div ref={place} className="chart-canvas" role="img" aria-label={`${waves.ramp.chart}. ${summary}`} />
  )
}

function AsTable({ rule, now, zone }: RampChartProps) {
  const { common, waves } = useTexts()
  const words = useWords(zone)
  const rows = [
    { at: now, name: waves.ramp.nowMarker },
    ...turns(rule).map((at) => ({ at, name: words.moment(at) })),
  ].toSorted((a, b) => a.at - b.at)
  return (
    <details className="chart-table">
      <summary>
        {common.showTable}
        <span className="visually-hidden"> {waves.ramp.chart}</span>
      </summary>
      <Table verticalSpacing={2} fz="xs" maw={460}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{waves.ramp.at}</Table.Th>
            <Table.Th ta="right">{waves.ramp.share}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ at, name }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right" className="figure">
                {words.share(shareNow(rule, at))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  )
}
