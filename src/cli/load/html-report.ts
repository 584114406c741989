import { count } from '../output/print.js'
import { milliseconds } from './display.js'
import type { Step } from './find-max.js'
import { escapeHtml, type Line, plotSvg } from './html-plots.js'
import type { LoadResult, Sample } from './result.js'
import { OPERATION_COLUMNS, operationRows, PERCENTILES, percent } from './text-report.js'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #d8dde5; --c1: #1668c5; --c2: #b25a00; --c3: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181f; --soft: #353d49; --c1: #6cb2ff; --c2: #ffb366; --c3: #ff8a80 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 800px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 } th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--soft) }
th:first-child, td:first-child { text-align: left } figure { margin: 1.5rem 0 } svg { width: 100%; height: auto } svg text { font-size: 11px; fill: var(--ink) }
.grid { stroke: var(--soft) } .line { fill: none; stroke-width: 1.5 } .colour1 { stroke: var(--c1) } .colour2 { stroke: var(--c2) } .colour3 { stroke: var(--c3) }
.key1 { color: var(--c1) } .key2 { color: var(--c2) } .key3 { color: var(--c3) } [class^=key]::before { content: '\\2014\\a0' } .dashed { stroke-dasharray: 5 4; stroke-width: 2.5 } .shade { fill: var(--soft); opacity: .4 }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0 } .tiles div { flex: 1 1 8rem; border: 1px solid var(--soft); border-radius: 6px; padding: .5rem .75rem } .tiles dt { font-size: 13px } .tiles dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto } td { font-variant-numeric: tabular-nums; white-space: nowrap } h1 { overflow-wrap: anywhere } .bad { color: var(--c3) } .warning { border-left: 4px solid var(--c3); padding-left: .75rem }`

/** A self-contained page. */
export function htmlReport(result: LoadResult, steps: readonly Step[] = []): string {
  const title = `Load test of ${result.url}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(intro(result))}</p>
${tiles(result)}
${result.generator.saturation.map((reason) => `<p class="warning">The generator was at its limit: ${escapeHtml(reason)}.</p>`).join('')}
${steps.length === 0 ? '' : stepTable(steps)}
${table(['', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'], timeRows(result))}
${plots(result).join('\n')}
${table(OPERATION_COLUMNS, operationRows(result.operations))}
${table(['errors and statuses', 'count'], errorRows(result))}
${result.answers === undefined ? '' : table(['answers by the server', 'count', 'share'], answerRows(result.answers))}
<p>Latency counts from the time a request was due, service time from the time it was sent. ${escapeHtml(count(result.generator.late))} requests were sent late by the generator itself.</p>
</body></html>
`
}

function intro(result: LoadResult): string {
  const { mix, rate, seconds, arrivals, answered, errorCount, startedAt } = result
  const end = result.endedEarly ? ', ended early' : ''
  return `${mix}: ${count(rate)} requests a second (${arrivals}) for ${seconds.toFixed(1)} s${end}, begun at ${startedAt}. ${count(answered)} answers, ${count(errorCount)} errors.`
}

function table(headers: string[], rows: (string | number)[][]): string {
  const cells = (tag: string, values: (string | number)[]) =>
    values.map((value) => `<${tag}>${escapeHtml(value)}</${tag}>`).join('')
  return `<div class="scroll"><table><thead><tr>${cells('th', headers)}</tr></thead><tbody>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')}</tbody></table></div>`
}

function timeRows({ latencyMs, serviceMs }: LoadResult): string[][] {
  return Object.entries({ 'latency, ms': latencyMs, 'service, ms': serviceMs }).map(([name, of]) => [
    name,
    ...PERCENTILES.map((point) => milliseconds(of[point])),
  ])
}

function errorRows({ errors, statuses }: LoadResult): (string | number)[][] {
  return [
    ...Object.entries(errors)
      .filter(([, times]) => times > 0)
      .map(([kind, times]) => [`errors: ${kind}`, count(times)]),
    ...Object.entries(statuses).map(([status, times]) => [`answers of status ${status}`, count(times)]),
  ]
}

function answerRows({ counts, shares }: NonNullable<LoadResult['answers']>): string[][] {
  return (Object.keys(counts) as (keyof typeof counts)[]).map((source) => [
    ...[source, count(counts[source]), percent(shares[source])],
  ])
}

/** The steps of a search, and which of them this page shows. */
function stepTable(steps: readonly Step[]): string {
  const kept = steps.filter(({ isKept }) => isKept).map(({ rate }) => rate)
  const found =
    kept.length === 0
      ? 'No rate kept the bounds; the figures are of the last step.'
      : `The highest rate that kept the bounds is ${count(Math.max(...kept))} requests a second; the figures are of that step.`
  const headers = ['step, requests/s', 'answered/s', 'p99 ms', 'errors', 'sent late', 'bounds']
  return `<p>${escapeHtml(found)}</p>${table(headers, steps.map(stepRow))}`
}

function stepRow({ rate, isKept, firstBroke, result }: Step): (string | number)[] {
  const verdict = isKept ? (firstBroke ? 'kept at the second attempt' : 'kept') : 'not kept'
  return [
    ...[count(rate), count(Math.round(result.achievedRate)), milliseconds(result.latencyMs.p99)],
    ...[count(result.errorCount), percent(result.generator.lateShare), verdict],
  ]
}

/** The most important figures. */
function tiles({ achievedRate, latencyMs, errorCount }: LoadResult): string {
  const figures: [string, string, boolean?][] = [
    ['answered a second', count(Math.round(achievedRate))],
    ['p50, ms', milliseconds(latencyMs.p50)],
    ['p99, ms', milliseconds(latencyMs.p99)],
    ['errors', count(errorCount), errorCount > 0],
  ]
  const tile = ([name, value, isBad]: (typeof figures)[number]) =>
    `<div><dt>${name}</dt><dd${isBad ? ' class="bad"' : ''}>${value}</dd></div>`
  return `<dl class="tiles">${figures.map(tile).join('')}</dl>`
}

function plots({ samples, curve }: LoadResult): string[] {
  const over = (name: keyof Sample, colour: Line['colour']): Line => ({
    ...{ name, colour, points: samples.map((sample) => ({ x: sample.second, y: sample[name] })) },
  })
  const seconds = samples.filter((_, i) => i % Math.max(1, Math.ceil(samples.length / 10)) === 0)
  const ticks = seconds.map(({ second }) => ({ x: second, label: `${second} s` }))
  const before = { x: 1, label: 'warm-up' }
  // A share of 1 has no place on this logarithmic scale.
  const shown = curve.filter(({ percentile }) => percentile < 1)
  const place = (percentile: number) => -Math.log10(1 - percentile)
  const by = (name: string, colour: Line['colour'], field: 'latencyMs' | 'serviceMs'): Line => ({
    ...{ name, colour, points: shown.map((at) => ({ x: place(at.percentile), y: at[field] })) },
  })
  const labelled = [0, 0.5, 0.9, 0.99, 0.999, 0.9999]
  return [
    plotSvg({
      ...{ title: 'Latency over time', unit: 'ms', ticks, before },
      lines: [over('p50', 1), over('p95', 2), over('p99', 3)],
    }),
    plotSvg({
      ...{ title: 'Rate over time', unit: 'requests/s', ticks, before },
      lines: [{ ...over('sent', 2), isDashed: true }, over('answered', 1), over('errors', 3)],
    }),
    plotSvg({
      ...{ title: 'Latency by percentile', unit: 'ms, logarithmic', isLogarithmic: true },
      ticks: labelled.map((share) => ({ x: place(share), label: `${Number((100 * share).toFixed(2))} %` })),
      lines: [by('latency', 3, 'latencyMs'), by('service', 1, 'serviceMs')],
    }),
  ]
}
