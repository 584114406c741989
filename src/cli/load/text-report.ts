import { count } from '../output/print.js'
import type { AnswerShares } from './answers.js'
import { milliseconds } from './display.js'
import type { Step } from './find-max.js'
import type { LoadResult, OperationResult, Summary } from './result.js'

export const OPERATION_COLUMNS = ['operation', 'answered', 'share', 'p50 ms', 'p99 ms', 'errors']
export const PERCENTILES = ['mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

export function textReport(result: LoadResult): string[] {
  return [
    `${result.mix} on ${result.url}: ${count(result.rate)}/s (${result.arrivals}) for ${result.seconds.toFixed(1)} s${result.endedEarly ? ', ended early' : ''}`,
    '',
    ...figures(result),
    '',
    ...times(result),
    '',
    ...operations(result),
    ...answers(result),
    ...generator(result),
  ]
}

export function stepLine({ rate, isKept, firstBroke, result }: Step): string {
  const { latencyMs, errorCount, achievedRate, generator, answers: made } = result
  const verdict = isKept ? 'kept' : 'not kept'
  const behind = generator.saturation.length > 0 ? '  (generator or connections at their limit)' : ''
  const again = isKept && firstBroke ? ` at the second attempt (the first: ${firstBroke.join('; ')})` : ''
  const mix = made === undefined ? '' : `  [${sharesOf(made)}]`
  return (
    `${count(rate).padStart(8)}/s  answered ${count(Math.round(achievedRate)).padStart(7)}/s  ` +
    `p99 ${milliseconds(latencyMs.p99).padStart(7)} ms  ${count(errorCount)} errors  ${verdict}${again}${behind}${mix}`
  )
}

function figures({ due, answered, achievedRate, errors, errorCount, statuses }: LoadResult): string[] {
  const kinds = Object.entries(errors).filter(([, times]) => times > 0)
  const wrong = kinds.map(([kind, times]) => `${kind} ${count(times)}`).join(', ')
  const seen = Object.entries(statuses).map(([status, times]) => `${status}: ${count(times)}`)
  return [
    `due       ${count(due)}`,
    `answered  ${count(answered)} (${count(Math.round(achievedRate))}/s)`,
    `errors    ${count(errorCount)}${wrong === '' ? '' : ` (${wrong})`}`,
    `statuses  ${seen.join(', ') || 'none'}`,
  ]
}

function times({ latencyMs, serviceMs }: LoadResult): string[] {
  const row = (title: string, of: Summary) =>
    title.padEnd(26) + PERCENTILES.map((name) => milliseconds(of[name]).padStart(9)).join('')
  return [
    'milliseconds'.padEnd(26) + PERCENTILES.map((name) => name.padStart(9)).join(''),
    row('latency, from when due', latencyMs),
    row('service, from when sent', serviceMs),
  ]
}

function operations({ operations: rows }: LoadResult): string[] {
  const width = Math.max(9, ...rows.map(({ name }) => name.length))
  const line = (cells: string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(width) : cell.padStart(10))).join('  ')
  return [line(OPERATION_COLUMNS), ...operationRows(rows).map(line)]
}

export const operationRows = (rows: readonly OperationResult[]): string[][] =>
  rows.map(({ name, answered, share, latencyMs, errors }) => [
    ...[name, count(answered), percent(share), milliseconds(latencyMs.p50)],
    ...[milliseconds(latencyMs.p99), count(errors)],
  ])

function answers({ answers: made }: LoadResult): string[] {
  if (made === undefined) return []
  return ['', `answers about members, by the server's own count of ${count(made.total)}: ${sharesOf(made)}`]
}

function sharesOf({ shares }: AnswerShares): string {
  const parts = Object.entries(shares).filter(([, share]) => share > 0)
  return parts.map(([source, share]) => `${source} ${percent(share)}`).join(', ')
}

function generator({ generator: { late, lagP99Ms, peakConnections, saturation } }: LoadResult): string[] {
  return [
    '',
    `generator: ${count(late)} sent late, lag p99 ${milliseconds(lagP99Ms)} ms, ${count(peakConnections)} connections at most`,
    ...saturation.map((reason) => `GENERATOR AT ITS LIMIT: ${reason}. Do not blame the server alone.`),
  ]
}
