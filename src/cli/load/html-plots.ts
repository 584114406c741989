/** Line plots as SVG, without scripts and without external styles. */

export interface Line {
  name: string
  /** Number of a colour of the page. */
  colour: 1 | 2 | 3
  points: readonly { x: number; y: number }[]
  /** For a line that may be drawn over another. */
  isDashed?: boolean
}

interface Plot {
  title: string
  unit: string
  lines: readonly Line[]
  isLogarithmic?: boolean
  /** Labels below the plot, with their positions. */
  ticks: readonly { x: number; label: string }[]
  /** The area before this position is shaded, with this label. */
  before?: { x: number; label: string }
}

const WIDTH = 720
const HEIGHT = 240
const LEFT = 64
const RIGHT = 20
const TOP = 12
const BOTTOM = 28
const GRID_LINES = 4

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(value: string | number): string {
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

export function plotSvg({ title, unit, lines, isLogarithmic = false, ticks, before }: Plot): string {
  const points = lines.flatMap((line) => line.points).filter(({ y }) => Number.isFinite(y))
  if (points.length === 0)
    return `<figure><figcaption>${escapeHtml(title)}</figcaption><p>no data</p></figure>`
  const scaleX = horizontal(points.map(({ x }) => x))
  const { scaleY, marks } = vertical(
    points.map(({ y }) => y),
    isLogarithmic,
  )
  const round = (value: number) => Math.round(value * 10) / 10
  const grid = marks.map((mark) => {
    const y = round(scaleY(mark))
    return `<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" class="grid"/><text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${escapeHtml(short(mark))}</text>`
  })
  const labels = ticks.map(
    ({ x, label }) =>
      `<text x="${round(scaleX(x))}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(label)}</text>`,
  )
  const drawn = lines.map(({ colour, points: of, isDashed }) => {
    const path = of.map(({ x, y }) => `${round(scaleX(x))},${round(scaleY(y))}`).join(' ')
    return `<polyline points="${path}" class="line colour${colour}${isDashed ? ' dashed' : ''}"/>`
  })
  const key = lines.map(({ name, colour }) => `<span class="key${colour}">${escapeHtml(name)}</span>`)
  return `<figure><figcaption>${escapeHtml(title)} <small>${escapeHtml(unit)}</small> ${key.join(' ')}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${[shade(scaleX, before), ...grid, ...labels, ...drawn].join('')}</svg></figure>`
}

function shade(scaleX: (x: number) => number, before: Plot['before']): string {
  const width = before === undefined ? 0 : Math.round(scaleX(before.x) - LEFT)
  if (before === undefined || width <= 0) return ''
  return `<rect x="${LEFT}" y="${TOP}" width="${width}" height="${HEIGHT - TOP - BOTTOM}" class="shade"/><text x="${LEFT + 4}" y="${TOP + 12}">${escapeHtml(before.label)}</text>`
}

// A run of a day has more samples than a call can have arguments.
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity)
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity)

function horizontal(values: number[]): (x: number) => number {
  const [from, to] = [least(values), most(values)]
  const width = WIDTH - LEFT - RIGHT
  return (x) => LEFT + (width * (x - from)) / (to - from || 1)
}

function vertical(
  values: number[],
  isLogarithmic: boolean,
): { scaleY: (y: number) => number; marks: number[] } {
  const height = HEIGHT - TOP - BOTTOM
  if (!isLogarithmic) {
    const top = niceAbove(most(values))
    const marks = Array.from({ length: GRID_LINES + 1 }, (_, i) => (top * i) / GRID_LINES)
    return { scaleY: (y) => TOP + height * (1 - y / top), marks }
  }
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(least(positive), 1)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(most(positive), 0.1))))
  const marks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
  const place = (y: number) => (Math.log10(Math.max(y, 10 ** low)) - low) / (high - low)
  return { scaleY: (y) => TOP + height * (1 - place(y)), marks }
}

/** The next of 1, 2, 5 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value || 1))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value
}

function short(value: number): string {
  return value >= 1000 ? `${Math.round(value / 100) / 10}k` : String(Number(value.toPrecision(3)))
}
