import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallOptions } from '../../../../src/client/operation.js'
import { useTyped } from '../../data/use-lists.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { useHash } from './lookup.js'

export interface Page<Row> {
  items: Row[]
  nextCursor?: string | undefined
}

export interface Asking {
  prefix: string | undefined
  olderThanSeconds: number | undefined
  /** One of `states`. */
  state: string
  limit: number
  cursor: string | undefined
}

/** What is done to all selected rows, one call for each. */
export interface Bulk<Row> {
  label: string
  title(count: string): string
  text: string
  done(count: string): string
  act(row: Row, call: CallOptions): Promise<unknown>
}

export interface ExplorerProps<Row> {
  title: string
  empty: string
  columns: readonly Column<Row>[]
  /** Changes when something outside of the filter does. */
  id?: string
  /** Another number means that a row was changed elsewhere on the page: load again. */
  changes?: number
  enabled?: boolean
  states?: readonly { value: string; label: string }[]
  hasAges?: boolean
  /** More fields of the filter. */
  fields?: ReactNode
  list(asking: Asking, signal: AbortSignal): Promise<Page<Row>>
  rowKey(row: Row): string
  bulk?: Bulk<Row> | undefined
}

const AGES = ['60', '600', '3600', '86400'] as const
/** A page of the server may be short although there is more. */
const MAX_CALLS = 20
const POLL_MS = 5_000

/** Full pages of a listing whose own pages may be short or empty. */
async function fullPage<Row>(
  list: (cursor: string | undefined, limit: number) => Promise<Page<Row>>,
  cursor: string | undefined,
  limit: number,
): Promise<Page<Row>> {
  const items: Row[] = []
  let next = cursor
  for (let calls = 0; calls < MAX_CALLS && items.length < limit; calls++) {
    const page = await list(next, limit - items.length)
    items.push(...page.items)
    next = page.nextCursor
    if (next === undefined) break
  }
  return { items, nextCursor: next }
}

/** What the store holds, by prefix, state and age; the filter is in the address. */
export function Explorer<Row>(props: ExplorerProps<Row>) {
  const { title, columns, id = '', changes = 0, enabled = true, states, hasAges = true, rowKey, bulk } = props
  const { guards } = useTexts()
  const texts = guards.explore
  const [given, change] = useHash()
  const [typed, setTyped] = useState(() => given.get('prefix') ?? '')
  const prefix = useTyped(typed)
  const age = AGES.find((seconds) => seconds === given.get('older')) ?? ''
  const state = given.get('state') ?? ''
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const filter = JSON.stringify([id, prefix, age, state])
  const pages = usePages(filter, 25)
  const query = useQuery(
    `${filter} ${pages.size} ${pages.cursor} ${changes}`,
    (signal) =>
      fullPage(
        (cursor, limit) =>
          props.list(
            {
              prefix: prefix || undefined,
              olderThanSeconds: age === '' ? undefined : Number(age),
              state,
              limit,
              cursor,
            },
            signal,
          ),
        pages.cursor,
        pages.size,
      ),
    { keepPrevious: true, pollMs: POLL_MS, enabled },
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address follows what is typed.
  useEffect(() => change({ prefix }, 'replace'), [prefix])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is selected must be in sight.
  useEffect(() => setSelected(new Set()), [filter, pages.cursor])
  const rows = enabled ? query.data?.items : []
  const chosen = (rows ?? []).filter((row) => selected.has(rowKey(row)))
  const toggle = (key: string): void => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    setSelected(next)
  }
  const selection: Column<Row> = {
    name: 'select',
    header: texts.actions,
    cell: (row) => (
      <Checkbox
        size="xs"
        aria-label={texts.select(rowKey(row))}
        checked={selected.has(rowKey(row))}
        onChange={() => toggle(rowKey(row))}
      />
    ),
  }
  return (
    <Panel title={title} weight="main" flush>
      <div className="filters explorer-filters">
        {props.fields}
        <TextInput
          type="search"
          label={texts.prefix}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
        />
        {states !== undefined && (
          <NativeSelect
            label={texts.state}
            value={state}
            data={[{ value: '', label: texts.anyState }, ...states]}
            onChange={(event) => change({ state: event.currentTarget.value }, 'replace')}
          />
        )}
        {hasAges && (
          <NativeSelect
            label={texts.age}
            value={age}
            data={[
              { value: '', label: texts.anyAge },
              ...AGES.map((value) => ({ value, label: texts.ages[value] })),
            ]}
            onChange={(event) => change({ older: event.currentTarget.value }, 'replace')}
          />
        )}
      </div>
      {bulk !== undefined && rows !== undefined && rows.length > 0 && (
        <BulkBar
          bulk={bulk}
          rows={rows}
          chosen={chosen}
          onSelect={(some) => setSelected(new Set(some.map(rowKey)))}
          onDone={query.reload}
        />
      )}
      <DataTable
        label={title}
        stacked="labelled"
        columns={bulk === undefined ? columns : [selection, ...columns]}
        rows={rows}
        rowKey={rowKey}
        query={query}
        empty={query.data?.nextCursor === undefined ? props.empty : texts.goOn}
        pages={pages}
        nextCursor={query.data?.nextCursor}
      />
    </Panel>
  )
}

interface BulkBarProps<Row> {
  bulk: Bulk<Row>
  rows: readonly Row[]
  chosen: readonly Row[]
  onSelect(rows: readonly Row[]): void
  onDone(): void
}

function BulkBar<Row>({ bulk, rows, chosen, onSelect, onDone }: BulkBarProps<Row>) {
  const { guards } = useTexts()
  const texts = guards.explore
  const format = useFormat()
  // What was selected when it was asked: rows may come and go meanwhile.
  const [asked, setAsked] = useState<readonly Row[]>()
  const count = format.number(asked?.length ?? chosen.length)
  const act = async (call: CallOptions): Promise<void> => {
    for (const row of asked ?? []) await bulk.act(row, call)
    announce(bulk.done(count))
    onSelect([])
    onDone()
  }
  return (
    <div className="bulk-bar">
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onSelect(chosen.length === rows.length ? [] : rows)}
      >
        {chosen.length === rows.length ? texts.selectNone : texts.selectAll(format.number(rows.length))}
      </Button>
      <span className="detail" role="status">
        {texts.selected(format.number(chosen.length))}
      </span>
      <Button
        size="compact-sm"
        variant="default"
        className={chosen.length === 0 ? undefined : 'dangerous'}
        disabled={chosen.length === 0}
        onClick={() => setAsked(chosen)}
      >
        {bulk.label}
      </Button>
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={bulk.title(count)}
        confirmLabel={bulk.label}
        typed={count}
        onConfirm={act}
      >
        {bulk.text}
      </ConfirmDialog>
    </div>
  )
}
