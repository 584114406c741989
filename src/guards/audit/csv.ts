import { spreadsheetCell } from '../../core/csv-cell.js'
import type { AuditEntry } from './types.js'

const COLUMNS = [
  'at',
  'actor',
  'action',
  'target',
  'reason',
  'outcome',
  'changes',
  'detail',
  'requestId',
  'id',
]

/** Entries as CSV for spreadsheets. */
export async function* auditCsv(pages: AsyncIterable<readonly AuditEntry[]>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${COLUMNS.join(',')}\n`)
  for await (const entries of pages) {
    if (entries.length > 0) yield Buffer.from(entries.map(row).join(''))
  }
}

function row({ at, actor, action, target, reason = '', outcome, ...rest }: AuditEntry): string {
  const { changes = [], detail, requestId = '', id } = rest
  const { kind, id: targetId, ...about } = target
  const cells = [
    ...[
      at,
      `${actor.kind}:${actor.name}`,
      action,
      [`${kind}:${targetId}`, ...Object.values(about)].join(' '),
    ],
    ...[reason, outcome ?? '', changes.map(changeText).join('; ')],
    ...[detail === undefined ? '' : JSON.stringify(detail), requestId, id],
  ]
  return `${cells.map(spreadsheetCell).join(',')}\n`
}

const changeText = ({ field, before, after }: { field: string; before?: unknown; after?: unknown }): string =>
  `${field}: ${text(before)} -> ${text(after)}`

const text = (value: unknown): string =>
  value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value)
