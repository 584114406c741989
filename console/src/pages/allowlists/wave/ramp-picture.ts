import uPlot from 'uplot'
import { drawMarks, labelSpace, RIGHT } from '../../../parts/time-chart-options.js'
import { type Rule, shareNow, turns } from './rule.js'

export interface Picture {
  /** Seconds, then the shares of the rule and of the rule to compare with. */
  data: uPlot.AlignedData
  from: number
  to: number
  now: number
  isCompared: boolean
  /** Seconds at which the wave was changed, within the range. */
  marks: number[]
}

export interface PictureLook {
  language: string
  zone: string
  nowLabel: string
  width: number
  share(share: number): string
}

const DAY_SECONDS = 86_400
/** Labels that name only the day must not occur twice a day. */
const DAYS = [1, 2, 7, 14, 30, 60, 90, 180, 365, 730].map((days) => days * DAY_SECONDS)
const HEIGHT = 190
const DAY_MS = 86_400_000
/** Times further away would squeeze the rest. */
const FAR_MS = 5 * 365 * DAY_MS

/** The points at which the line changes, over a range that includes all of them and the present. */
export function pictureOf(
  rule: Rule,
  saved: Rule | undefined,
  now: number,
  marks: readonly number[] = [],
): Picture {
  const all = [...turns(rule), ...(saved === undefined ? [] : turns(saved))]
  const near = all.filter((at) => Math.abs(at - now) < FAR_MS)
  const [first, last] = [Math.min(now, ...near), Math.max(now, ...near)]
  const spanMs = Math.max(last - first, DAY_MS)
  const [from, to] = [first - spanMs * 0.08, last + spanMs * 0.12]
  const times = [...new Set([from, ...near, to])].toSorted((a, b) => a - b)
  const shares = (given: Rule): number[] => times.map((at) => shareNow(given, at))
  const data = [times.map((at) => at / 1000), shares(rule), ...(saved === undefined ? [] : [shares(saved)])]
  return {
    data: data as uPlot.AlignedData,
    from: from / 1000,
    to: to / 1000,
    now: now / 1000,
    isCompared: saved !== undefined,
    marks: marks.filter((at) => at > from && at < to).map((at) => at / 1000),
  }
}

export function rampOptions(picture: Picture, look: PictureLook): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const isLong = picture.to - picture.from > 3 * DAY_SECONDS
  const time = new Intl.DateTimeFormat(look.language, {
    timeZone: look.zone,
    ...(isLong
      ? { day: 'numeric', month: 'short' }
      : { weekday: 'short', hour: '2-digit', minute: '2-digit' }),
  })
  const axis = {
    stroke: colour('--mantine-color-dimmed'),
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  const stepped = uPlot.paths.stepped!({ align: 1 })
  const line = (stroke: string, more: Partial<uPlot.Series>): uPlot.Series => ({
    stroke,
    width: 2,
    paths: stepped,
    points: { show: false },
    ...more,
  })
  const main = colour('--chart-main')
  return {
    width: look.width,
    height: HEIGHT,
    padding: [16, RIGHT, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), look.zone),
    scales: { x: { time: true, range: [picture.from, picture.to] }, y: { range: [0, 1.02] } },
    axes: [
      {
        ...axis,
        values: (_, splits) => splits.map((at) => time.format(at * 1000)),
        space: 84,
        size: 26,
        ...(isLong && { incrs: DAYS }),
      },
      {
        ...axis,
        splits: () => [0, 0.25, 0.5, 0.75, 1],
        values: (_, splits) => splits.map(look.share),
        size: labelSpace,
      },
    ],
    series: [
      {},
      line(main, { fill: `${main}1f` }),
      ...(picture.isCompared ? [line(colour('--chart-middle'), { dash: [6, 3], width: 1.5 })] : []),
    ],
    hooks: {
      draw: [
        (chart) => drawNow(chart, picture.now, look.nowLabel, axis.stroke),
        (chart) => drawMarks(chart, picture.marks, axis.stroke),
      ],
    },
  }
}

function drawNow(chart: uPlot, now: number, label: string, colour: string): void {
  const { ctx, bbox } = chart
  const x = Math.round(chart.valToPos(now, 'x', true))
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  ctx.lineWidth = scale
  ctx.setLineDash([3 * scale, 3 * scale])
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
  ctx.font = `${11 * scale}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.fillText(label, x, bbox.top - 4 * scale)
  ctx.restore()
}
