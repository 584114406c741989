import { mkdirSync, writeFileSync } from 'node:fs'

export interface Line {
  name: string
  points: readonly (readonly [x: number, y: number])[]
}

const WIDTH = 640
const HEIGHT = 360
const EDGE = { left: 80, right: 150, top: 40, bottom: 50 }
/** Readable on white and on black. */
const COLOURS = ['#3d82e0', '#cf6a26', '#349a57', '#a55fca']
const STYLE = `<style>
.page { fill: #fff } .grid { stroke: #ccc } text { fill: #222 }
@media (prefers-color-scheme: dark) { .page { fill: #0d1117 } .grid { stroke: #444 } text { fill: #ddd } }
</style>`

/** Writes a plot with logarithmic axes to `docs/images/NAME.svg`. */
export function plot(name: string, title: string, axes: { x: string; y: string }, lines: Line[]): void {
  const drawn = lines
    .map((line) => ({ ...line, points: line.points.filter(([x, y]) => x > 0 && y > 0) }))
    .filter(({ points }) => points.length > 0)
  if (drawn.length === 0) return
  const all = drawn.flatMap(({ points }) => points)
  const x = scale(
    all.map(([value]) => value),
    EDGE.left,
    WIDTH - EDGE.right,
  )
  const y = scale(
    all.map(([, value]) => value),
    HEIGHT - EDGE.bottom,
    EDGE.top,
  )
  const parts = [
    text(EDGE.left, 22, title, 'font-weight="bold"'),
    text((EDGE.left + WIDTH - EDGE.right) / 2, HEIGHT - 10, axes.x, 'text-anchor="middle"'),
    text(8, EDGE.top - 6, axes.y),
    ...x.ticks.map((tick) =>
      text(x.at(tick), HEIGHT - EDGE.bottom + 18, short(tick), 'text-anchor="middle"'),
    ),
    ...y.ticks.flatMap((tick) => [
      `<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y.at(tick)}" y2="${y.at(tick)}" class="grid"/>`,
      text(EDGE.left - 8, y.at(tick) + 4, short(tick), 'text-anchor="end"'),
    ]),
    ...drawn.flatMap(({ name: label, points }, i) => {
      const colour = COLOURS[i % COLOURS.length]!
      const path = points.map(([a, b]) => `${x.at(a)},${y.at(b)}`).join(' ')
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(([a, b]) => `<circle cx="${x.at(a)}" cy="${y.at(b)}" r="3" fill="${colour}"/>`),
        text(WIDTH - EDGE.right + 12, EDGE.top + 18 * (i + 1), label, `style="fill:${colour}"`),
      ]
    }),
  ]
  const directory = new URL('../../../docs/images/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  const frame = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12"`
  const page = `<svg ${frame}>\n<title>${title}</title>\n${STYLE}\n<rect width="100%" height="100%" class="page"/>\n${parts.join('\n')}\n</svg>\n`
  writeFileSync(new URL(`${name}.svg`, directory), page)
}

/** Whole powers of ten around the values. */
function scale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const at = (value: number): number =>
    Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from))
  return { at, ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) }
}

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}" ${more}>${content}</text>`

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`
  return value >= 1000 ? `${value / 1000} k` : String(Number(value.toPrecision(3)))
}
