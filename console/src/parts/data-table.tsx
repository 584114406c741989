import { ActionIcon, Group, NativeSelect, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { PAGE_SIZES, type Pages } from '../data/use-pages.js'
import type { Query } from '../data/use-query.js'
import { useFormat, useTexts } from '../texts/language.js'
import { Icon } from './icons.js'
import { ProblemView } from './problem.js'

export interface Column<Row> {
  /** Also the field by which the server sorts, when `sortable`. */
  name: string
  header: string
  cell(row: Row): ReactNode
  sortable?: boolean
  align?: 'left' | 'right'
}

export interface Sort {
  by: string
  order: 'asc' | 'desc'
}

export interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[] | undefined
  rowKey(row: Row): string
  query: Pick<Query<unknown>, 'loading' | 'asking' | 'problem' | 'reload'>
  empty?: ReactNode
  sort?: Sort
  onSort?(sort: Sort): void
  pages?: Pages
  nextCursor?: string | undefined
  total?: number | undefined
  /** On phones each row is a block: `plain` begins with its second column, `labelled` names what has no name in sight. */
  stacked?: 'plain' | 'labelled'
}

/** What these cells show says what it is; so does the first one. */
const UNLABELLED: ReadonlySet<string> = new Set(['select', 'key', 'name', 'scopes', 'state', 'actions'])

const SKELETON_ROWS = ['a', 'b', 'c', 'd', 'e']

/** Shows rows that the server has sorted and paged. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, query, empty, pages } = props
  const { common } = useTexts()
  return (
    <div aria-busy={query.asking}>
      {query.problem !== undefined && (
        <div className="table-problem">
          <ProblemView problem={query.problem} retry={query.reload} />
        </div>
      )}
      {/* No landmark: the panel around it is one, and has the same name. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      <div
        className={
          props.stacked === undefined
            ? 'table-scroll'
            : `table-scroll table-stack table-stack-${props.stacked}`
        }
        role="group"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
      >
        <Table verticalSpacing={5} horizontalSpacing="md" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Header key={column.name} column={column} sort={props.sort} onSort={props.onSort} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {query.loading && <Waiting columns={columns.length} label={common.loading} />}
            {rows?.map((row) => (
              <Table.Tr key={rowKey(row)}>
                {columns.map((column, index) => (
                  <Table.Td
                    key={column.name}
                    ta={column.align ?? 'left'}
                    data-label={index === 0 || UNLABELLED.has(column.name) ? undefined : column.header}
                  >
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {rows?.length === 0 && <div className="table-empty">{empty ?? common.empty}</div>}
      </div>
      {pages !== undefined && (
        <Pager pages={pages} shown={rows?.length ?? 0} nextCursor={props.nextCursor} total={props.total} />
      )}
    </div>
  )
}

interface HeaderProps<Row> {
  column: Column<Row>
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
}

function Header<Row>({ column, sort, onSort }: HeaderProps<Row>) {
  const { common } = useTexts()
  const { name, header, align = 'left' } = column
  if (!column.sortable || onSort === undefined) return <Table.Th ta={align}>{header}</Table.Th>
  const active = sort?.by === name ? sort.order : undefined
  const ariaSort = active === undefined ? 'none' : active === 'asc' ? 'ascending' : 'descending'
  return (
    <Table.Th ta={align} aria-sort={ariaSort}>
      <UnstyledButton
        className="sort-button"
        title={common.sortBy(header)}
        onClick={() => onSort({ by: name, order: active === 'asc' ? 'desc' : 'asc' })}
      >
        {header}
        <Icon name={active === undefined ? 'sort' : active === 'asc' ? 'up' : 'down'} size={14} />
      </UnstyledButton>
    </Table.Th>
  )
}

function Waiting({ columns, label }: { columns: number; label: string }) {
  return SKELETON_ROWS.map((row, index) => (
    <Table.Tr key={row}>
      <Table.Td colSpan={columns}>
        {index === 0 && <span className="visually-hidden">{label}</span>}
        <Skeleton height={16} radius="sm" />
      </Table.Td>
    </Table.Tr>
  ))
}

interface PagerProps {
  pages: Pages
  /** Rows of this page. */
  shown: number
  nextCursor: string | undefined
  total: number | undefined
}

/** The size of pages, and the way from one to the next. */
export function Pager({ pages, shown, nextCursor, total }: PagerProps) {
  const { common } = useTexts()
  const format = useFormat()
  const isOnlyPage = pages.number === 1 && nextCursor === undefined
  if (isOnlyPage && total === undefined && shown <= PAGE_SIZES[0]) return null
  return (
    <Group justify="space-between" className="pager">
      <Text size="sm" c="dimmed" aria-live="polite">
        {total === undefined ? '' : common.rows(format.number(total))}
      </Text>
      <Group gap="xs">
        <NativeSelect
          size="xs"
          className="page-size"
          aria-label={common.pageSize}
          value={String(pages.size)}
          data={PAGE_SIZES.map((size) => ({
            value: String(size),
            label: common.perPage(format.number(size)),
          }))}
          onChange={(event) => pages.setSize(Number(event.currentTarget.value))}
        />
        <ActionIcon
          variant="default"
          aria-label={common.previousPage}
          disabled={pages.number === 1}
          onClick={pages.previous}
        >
          <Icon name="left" />
        </ActionIcon>
        <Text size="sm">{common.page(format.number(pages.number))}</Text>
        <ActionIcon
          variant="default"
          aria-label={common.nextPage}
          disabled={nextCursor === undefined}
          onClick={() => nextCursor !== undefined && pages.next(nextCursor)}
        >
          <Icon name="right" />
        </ActionIcon>
      </Group>
    </Group>
  )
}
