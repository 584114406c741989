import uPlot from 'uplot'

/**
 * The meaning of a line. Each has a colour in `styles.css` and a dash pattern, so that colour is not the only
 * difference.
 */
export const TONES = { main: [], good: [], bad: [6, 3], low: [], middle: [6, 3], high: [2, 3] } as const
export type Tone = keyof typeof TONES

export interface ChartLook {
  tones: readonly Tone[]
  spanSeconds: number
  group: string | undefined
  /** Seconds at which something changed. */
  marks: readonly number[]
  width: number
  /** Whether the axis is divided at midnight UTC instead of the user's zone. */
  days: boolean
  /** Whether `format` shows whole numbers only: between them there are no lines. */
  whole: boolean
  format(value: number): string
  time(seconds: number): string
  onPoint(index: number | undefined): void
}

const HEIGHT = 170
const LEFT = 58
/** Half of a label, which may be at the end of the axis. */
export const RIGHT = 30
const CHARACTER = 6.6
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power))
/** A young process has figures of a few minutes, which an axis of an hour would squeeze. */
const SPANS = [300, 600, 1200, 2400] as const

/** The seconds to draw: as many as `times` need, `most` at most. */
export function spanOf(times: readonly number[], most: number): number {
  const known = times.length === 0 ? 0 : times.at(-1)! - times[0]!
  return Math.min(most, SPANS.find((span) => span >= known) ?? most)
}

/** Wide enough for the longest label. */
export const labelSpace: uPlot.Axis.Size = (_, values) =>
  Math.max(LEFT, ...(values ?? []).map((label) => Math.ceil(label.length * CHARACTER) + 12))

export function chartOptions(look: ChartLook): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: colour('--mantine-color-dimmed'),
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return {
    width: look.width,
    height: HEIGHT,
    padding: [8, RIGHT, 0, 0],
    legend: { show: false },
    ...(look.days ? { tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') } : {}),
    cursor: {
      y: false,
      drag: { x: false, y: false },
      ...(look.group === undefined ? {} : { sync: { key: look.group } }),
    },
    scales: {
      x: { time: true, range: (_, __, last) => [last - look.spanSeconds, last] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, values: (_, splits) => splits.map(look.time), space: 70, size: 26 },
      {
        ...axis,
        values: (_, splits) => splits.map(look.format),
        size: labelSpace,
        space: 34,
        ...(look.whole ? { incrs: WHOLE } : {}),
      },
    ],
    series: [{}, ...look.tones.map((tone) => lineOf(tone, colour(`--chart-${tone}`)))],
    hooks: {
      setCursor: [({ cursor }) => look.onPoint(cursor.idx ?? undefined)],
      draw: [(chart) => drawMarks(chart, look.marks, axis.stroke)],
    },
  }
}

/** A line with a triangle below it for each change. */
export function drawMarks(chart: uPlot, marks: readonly number[], colour: string): void {
  const { ctx, bbox } = chart
  const size = 5 * devicePixelRatio
  const bottom = bbox.top + bbox.height
  ctx.save()
  ctx.fillStyle = colour
  ctx.strokeStyle = colour
  ctx.lineWidth = devicePixelRatio
  for (const at of marks) {
    const x = Math.round(chart.valToPos(at, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.globalAlpha = 0.45
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bottom)
    ctx.stroke()
    ctx.globalAlpha = 1
    ctx.beginPath()
    ctx.moveTo(x, bottom - size * 1.6)
    ctx.lineTo(x - size, bottom)
    ctx.lineTo(x + size, bottom)
    ctx.fill()
  }
  ctx.restore()
}

function lineOf(tone: Tone, stroke: string): uPlot.Series {
  return {
    stroke,
    width: 1.6,
    dash: [...TONES[tone]],
    points: { show: false },
    ...(tone === 'main' || tone === 'good' || tone === 'low' ? { fill: `${stroke}1a` } : {}),
  }
}
