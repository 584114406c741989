import { count } from '../output.js'
import { milliseconds } from './display.js'
import type { Step } from './find-max.js'
import { escapeHtml, type Line, plotSvg } from './html-plots.js'
import type { LoadResult, Sample } from './result.js'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #d8dde5; --c1: #1668c5; --c2: #b25a00; --c3: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181f; --soft: #353d49; --c1: #6cb2ff; --c2: #ffb366; --c3: #ff8a80 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 800px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 } th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--soft) }
th:first-child, td:first-child { text-align: left } figure { margin: 1.5rem 0 } svg { width: 100%; height: auto } svg text { font-size: 11px; fill: var(--ink) }
.grid { stroke: var(--soft) } .line { fill: none; stroke-width: 1.5 } .colour1 { stroke: var(--c1) } .colour2 { stroke: var(--c2) } .colour3 { stroke: var(--c3) }
.key1 { color: var(--c1) } .key2 { color: var(--c2) } .key3 { color: var(--c3) } .warning { border-left: 4px solid var(--c3); padding-left: .75rem }`

/** One page that needs nothing from anywhere. */
export function htmlReport(result: LoadResult, steps: readonly Step[] = []): string {
  const title = `Load test of ${result.url}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(intro(result))}</p>
${result.generator.saturation.map((reason) => `<p class="warning">The generator was at its limit: ${escapeHtml(reason)}.</p>`).join('')}
${table(['', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'], timeRows(result))}
${plots(result).join('\n')}
${table(['operation', 'answered', 'share', 'p50 ms', 'p99 ms', 'errors'], operationRows(result))}
${table(['errors and statuses', ''], errorRows(result))}
${result.answers === undefined ? '' : table(['answers by the server', 'count', 'share'], answerRows(result.answers))}
${steps.length === 0 ? '' : table(['step, requests/s', 'answered/s', 'p99 ms', 'errors', 'bounds'], steps.map(stepRow))}
<p>Latency counts from the time a request was due, service time from the time it was sent. ${escapeHtml(count(result.generator.late))} requests were sent late by the generator itself.</p>
</body></html>
`
}

function intro({
  mix,
  rate,
  seconds,
  arrivals,
  answered,
  errorCount,
  startedAt,
  endedEarly,
}: LoadResult): string {
  const end = endedEarly ? ', ended early' : ''
  return `${mix}: ${count(rate)} requests a second (${arrivals}) for ${seconds.toFixed(1)} s${end}, begun at ${startedAt}. ${count(answered)} answers, ${count(errorCount)} errors.`
}

function table(headers: string[], rows: (string | number)[][]): string {
  const cells = (tag: string, values: (string | number)[]) =>
    values.map((value) => `<${tag}>${escapeHtml(value)}</${tag}>`).join('')
  return `<table><thead><tr>${cells('th', headers)}</tr></thead><tbody>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')}</tbody></table>`
}

function timeRows({ latencyMs, serviceMs }: LoadResult): string[][] {
  return Object.entries({ 'latency, ms': latencyMs, 'service, ms': serviceMs }).map(([name, of]) => [
    name,
    ...[of.mean, of.p50, of.p90, of.p95, of.p99, of.p999, of.max].map(milliseconds),
  ])
}

function operationRows({ operations }: LoadResult): (string | number)[][] {
  return operations.map(({ name, answered, share, latencyMs, errors }) => [
    ...[name, count(answered), `${(100 * share).toFixed(1)} %`],
    ...[milliseconds(latencyMs.p50), milliseconds(latencyMs.p99), count(errors)],
  ])
}

function errorRows({ errors, statuses }: LoadResult): (string | number)[][] {
  return [
    ...Object.entries(errors).map(([kind, times]) => [kind, count(times)]),
    ...Object.entries(statuses).map(([status, times]) => [`answers of status ${status}`, count(times)]),
  ]
}

function answerRows({ counts, shares }: NonNullable<LoadResult['answers']>): string[][] {
  return (Object.keys(counts) as (keyof typeof counts)[]).map((source) => [
    ...[source, count(counts[source]), `${(100 * shares[source]).toFixed(1)} %`],
  ])
}

function stepRow({ rate, isKept, result }: Step): (string | number)[] {
  return [
    ...[count(rate), count(Math.round(result.achievedRate)), milliseconds(result.latencyMs.p99)],
    ...[count(result.errorCount), isKept ? 'kept' : 'not kept'],
  ]
}

function plots({ samples, curve }: LoadResult): string[] {
  const over = (name: string, colour: Line['colour'], of: (sample: Sample) => number): Line => ({
    ...{ name, colour, points: samples.map((sample) => ({ x: sample.second, y: of(sample) })) },
  })
  const seconds = samples.filter((_, i) => i % Math.max(1, Math.ceil(samples.length / 10)) === 0)
  const ticks = seconds.map(({ second }) => ({ x: second, label: `${second} s` }))
  // A share of 1 has no place on a scale of nines.
  const shown = curve.filter(({ percentile }) => percentile < 1)
  const place = (percentile: number) => -Math.log10(1 - percentile)
  const labelled = [0, 0.5, 0.9, 0.99, 0.999, 0.9999]
  return [
    plotSvg({
      ...{ title: 'Latency over time', unit: 'ms', ticks },
      lines: [
        over('p50', 1, ({ p50 }) => p50),
        over('p95', 2, ({ p95 }) => p95),
        over('p99', 3, ({ p99 }) => p99),
      ],
    }),
    plotSvg({
      ...{ title: 'Rate over time', unit: 'requests/s', ticks },
      lines: [
        over('sent', 2, ({ sent }) => sent),
        over('answered', 1, ({ answered }) => answered),
        over('errors', 3, ({ errors }) => errors),
      ],
    }),
    plotSvg({
      ...{ title: 'Latency by percentile', unit: 'ms, logarithmic', isLogarithmic: true },
      ticks: labelled.map((share) => ({ x: place(share), label: `${Number((100 * share).toFixed(2))} %` })),
      lines: [
        {
          name: 'latency',
          colour: 3,
          points: shown.map((at) => ({ x: place(at.percentile), y: at.latencyMs })),
        },
        {
          name: 'service',
          colour: 1,
          points: shown.map((at) => ({ x: place(at.percentile), y: at.serviceMs })),
        },
      ],
    }),
  ]
}
