import './allowlists.css'
import { Anchor, Button, NativeSelect, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { type Allowlist, api } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable, type Sort } from '../../parts/data-table.js'
import { Icon } from '../../parts/icons.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State, type StateKind, Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { CreateDialog } from './create-dialog.js'
import { Tags } from './facts.js'
import { listPath, seeAllLists } from './list-path.js'
import { nextTurn, shareNow } from './wave/rule.js'
import { FORMS } from './wave/strategies/index.js'

const TYPING_MS = 250
/** The shares of waves change over time. */
const POLL_MS = 10_000
const SORTS = ['name', 'customerCount', 'updatedAt', 'nextStepAt'] as const
const STATES = ['paused', 'scheduled', 'closed', 'partial', 'open', 'ended'] as const

interface Filter {
  search: string
  type: '' | Allowlist['type']
  state: '' | (typeof STATES)[number]
  tag: string
  sort: (typeof SORTS)[number]
  order: 'asc' | 'desc'
}

/** The filter is in the URL, so that going back from a list shows the same results. */
function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const [params, setParams] = useSearchParams()
  const type = params.get('type')
  const filter: Filter = {
    search: params.get('search') ?? '',
    type: type === 'FIXA' || type === 'ONDA' ? type : '',
    state: STATES.find((name) => name === params.get('state')) ?? '',
    tag: params.get('tag') ?? '',
    sort: SORTS.find((name) => name === params.get('sort')) ?? 'name',
    order: params.get('order') === 'desc' ? 'desc' : 'asc',
  }
  const change = (next: Partial<Filter>): void => {
    const given = Object.entries({ ...filter, ...next }).filter(([, value]) => value !== '')
    setParams(new URLSearchParams(given), { replace: true })
  }
  return [filter, change]
}

export default function AllowlistsPage() {
  const { allowlists: texts } = useTexts()
  const { can } = useSignedIn()
  const [filter, change] = useFilter()
  const [creating, setCreating] = useState(() => location.hash === '#new')
  const { search, type, state, tag, sort, order } = filter
  const id = JSON.stringify(filter)
  const pages = usePages(id, 50)
  // Without a list of reasons: after everything that changes the address or the page.
  useEffect(seeAllLists)
  const query = useQuery(
    `${id} ${pages.size} ${pages.cursor}`,
    (signal) =>
      api.listAllowlists(
        {
          search: search || undefined,
          type: type || undefined,
          state: state || undefined,
          tag: tag || undefined,
          sort,
          order,
          limit: pages.size,
          cursor: pages.cursor,
        },
        { signal },
      ),
    { keepPrevious: true, pollMs: POLL_MS },
  )
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      {texts.create.open}
    </Button>
  )
  return (
    <Page title={texts.title} lead={texts.lead} actions={can('admin') && create}>
      <Panel flush>
        <FilterForm filter={filter} onChange={change} />
        <DataTable
          label={texts.title}
          columns={useColumns()}
          rows={query.data?.items}
          rowKey={(list) => list.id}
          query={query}
          empty={search === '' && type === '' && state === '' && tag === '' ? texts.noLists : texts.noMatch}
          sort={{ by: sort, order }}
          onSort={({ by, order }: Sort) => change({ sort: by as Filter['sort'], order })}
          pages={pages}
          nextCursor={query.data?.nextCursor}
          total={query.data?.total}
        />
      </Panel>
      <CreateDialog
        opened={creating}
        onClose={() => {
          setCreating(false)
          // A reload must not open it again.
          if (location.hash !== '')
            history.replaceState(history.state, '', location.pathname + location.search)
        }}
      />
    </Page>
  )
}

interface FilterFormProps {
  filter: Filter
  onChange(change: Partial<Filter>): void
}

function FilterForm({ filter, onChange }: FilterFormProps) {
  const { allowlists: texts } = useTexts()
  const [typed, setTyped] = useState(filter.search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait.
  useEffect(() => {
    if (typed.trim() === filter.search) return
    const timer = setTimeout(() => onChange({ search: typed.trim() }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search className="list-filter">
      <TextInput
        type="search"
        label={texts.search}
        placeholder={texts.searchHint}
        leftSection={<Icon name="search" size={16} />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
      <NativeSelect
        label={texts.type}
        value={filter.type}
        data={[
          { value: '', label: texts.anyType },
          { value: 'FIXA', label: texts.typesLong.FIXA },
          { value: 'ONDA', label: texts.typesLong.ONDA },
        ]}
        onChange={(event) => onChange({ type: event.currentTarget.value as Filter['type'] })}
      />
      <NativeSelect
        label={texts.state}
        value={filter.state}
        data={[
          { value: '', label: texts.anyState },
          ...STATES.map((value) => ({ value, label: texts.states[value] })),
        ]}
        onChange={(event) => onChange({ state: event.currentTarget.value as Filter['state'] })}
      />
      {filter.tag !== '' && (
        <div className="tags filter-only">
          {texts.onlyTag} <Tag>{filter.tag}</Tag>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onChange({ tag: '' })}
            aria-label={`${texts.lift}: ${filter.tag}`}
          >
            {texts.lift}
          </Button>
        </div>
      )}
    </search>
  )
}

/** A phone has room for two columns: what the others say stands below the name. */
const ON_PHONES: ReadonlySet<string> = new Set(['name', 'customerCount'])

function useColumns(): Column<Allowlist>[] {
  const { allowlists: texts } = useTexts()
  const isPhone = useMediaQuery('(max-width: 600px)') ?? false
  const columns: Column<Allowlist>[] = [
    {
      name: 'name',
      header: texts.name,
      sortable: true,
      cell: (list) => (
        <div className="list-name">
          <Anchor component={Link} href={listPath(list.id)} size="sm" fw={600}>
            {list.name}
          </Anchor>
          <span className="list-id">{isPhone ? `${texts.types[list.type]} · ${list.id}` : list.id}</span>
          {list.tags !== undefined && list.tags.length > 0 && <Tags tags={list.tags} />}
          {isPhone && list.wave !== undefined && (
            <div>
              <WaveState list={list} /> <NextStep list={list} />
            </div>
          )}
        </div>
      ),
    },
    { name: 'type', header: texts.type, cell: ({ type }) => <Tag>{texts.types[type]}</Tag> },
    {
      name: 'customerCount',
      header: texts.customers,
      sortable: true,
      align: 'right',
      cell: (list) => <Size list={list} />,
    },
    { name: 'state', header: texts.state, cell: (list) => <WaveState list={list} /> },
    { name: 'nextStepAt', header: texts.nextStep, sortable: true, cell: (list) => <NextStep list={list} /> },
    {
      name: 'updatedAt',
      header: texts.updatedAt,
      sortable: true,
      cell: ({ updatedAt }) => <Time value={updatedAt} ago />,
    },
  ]
  return isPhone ? columns.filter(({ name }) => ON_PHONES.has(name)) : columns
}

const KINDS: Record<(typeof STATES)[number], StateKind> = {
  paused: 'bad',
  scheduled: 'neutral',
  closed: 'neutral',
  partial: 'good',
  open: 'good',
  ended: 'neutral',
}

function WaveState({ list: { wave } }: { list: Allowlist }) {
  const { allowlists: texts } = useTexts()
  return wave === undefined ? null : <State kind={KINDS[wave.state]}>{texts.states[wave.state]}</State>
}

function NextStep({ list: { config, paused } }: { list: Allowlist }) {
  const format = useFormat()
  const next = config === undefined || paused !== undefined ? undefined : nextTurn(config, serverNow())
  if (next === undefined) return null
  return (
    <span className="figure">
      {format.percent(next.share, 4)} <Time value={next.at} ago />
    </span>
  )
}

/** A wave has no size; its present share says more. */
function Size({ list }: { list: Allowlist }) {
  const { allowlists: texts, waves } = useTexts()
  const format = useFormat()
  if (list.config === undefined) return <span className="figure">{format.number(list.customerCount)}</span>
  const share = shareNow(list.config, serverNow())
  const named = FORMS[list.config.strategy]?.named?.(list.config)
  if (named !== undefined && share > 0) {
    return <span className="figure detail">{waves.rule.customersCount(format.number(named))}</span>
  }
  return (
    <span className="figure detail" title={texts.byRule}>
      {format.percent(share, 4)}
    </span>
  )
}
