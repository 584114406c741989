import { Anchor, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePages } from '../../data/use-pages.js'
import type { Query } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { effectiveLimits, type Level, type Levels, resourcePath } from './model.js'
import type { Resources } from './store.js'
import { LevelTag, LimitList } from './words.js'

interface Row {
  resource: string
  levels: Levels
}

const SHOWN: readonly Level[] = ['resource', 'system']

export function ResourcesPanel({ query }: { query: Query<Resources> }) {
  const { limits: texts } = useTexts()
  const [search, setSearch] = useState('')
  const pages = usePages(search, 10)
  const wanted = search.trim().toLowerCase()
  const all = [...(query.data?.levels ?? [])].map(([resource, levels]): Row => ({ resource, levels }))
  const found = all.filter(({ resource }) => resource.toLowerCase().includes(wanted))
  const start = Number(pages.cursor ?? 0)
  const end = start + pages.size
  return (
    <Panel
      title={texts.resources}
      lead={texts.resourcesLead}
      flush
      actions={<SearchInput label={texts.searchResources} value={search} onChange={setSearch} />}
    >
      {query.data?.complete === false && <div className="notice limit-notice">{texts.tooMany}</div>}
      <div className="limit-table">
        <DataTable
          label={texts.resources}
          columns={useColumns()}
          rows={query.data === undefined ? undefined : found.slice(start, end)}
          rowKey={({ resource }) => resource}
          query={query}
          empty={wanted === '' ? texts.noResources : texts.nothingFound}
          pages={pages}
          nextCursor={end < found.length ? String(end) : undefined}
          total={found.length > pages.size ? found.length : undefined}
        />
      </div>
    </Panel>
  )
}

function useColumns(): Column<Row>[] {
  const { limits: texts } = useTexts()
  return [
    {
      name: 'resource',
      header: texts.resource,
      cell: ({ resource }) => (
        <Anchor component={Link} href={resourcePath(resource)} className="limit-name">
          {resource}
        </Anchor>
      ),
    },
    {
      name: 'limits',
      header: texts.limits,
      cell: ({ levels }) => <LimitList items={effectiveLimits(levels, SHOWN)} />,
    },
    {
      name: 'levels',
      header: texts.saidBy,
      cell: ({ levels }) => (
        <span className="tags">
          {SHOWN.filter((level) => levels[level] !== undefined).map((level) => (
            <LevelTag key={level} level={level} />
          ))}
        </span>
      ),
    },
  ]
}

interface SearchInputProps {
  label: string
  value: string
  onChange(value: string): void
}

export function SearchInput({ label, value, onChange }: SearchInputProps) {
  return (
    <TextInput
      className="limit-search"
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={16} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
