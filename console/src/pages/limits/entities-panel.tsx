import { Anchor, Autocomplete } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { effectiveLimits, entityPath, levelsFrom, resourcePath } from './model.js'
import { SearchInput } from './resources-panel.js'
import { type Listed, type Resources, readEntities } from './store.js'
import { LimitList } from './words.js'

const TYPING_MS = 300

export interface EntitiesPanelProps {
  /** To show the entity's configuration combined with that of its resource. */
  resources: Resources | undefined
  /** Only entities of this resource. */
  resource?: string
}

export function EntitiesPanel({ resources, resource: only }: EntitiesPanelProps) {
  const { limits: texts } = useTexts()
  const [typed, setTyped] = useState('')
  const [typedResource, setTypedResource] = useState('')
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS)
  const [chosen] = useDebouncedValue(typedResource.trim(), TYPING_MS)
  const resource = only ?? (chosen === '' ? undefined : chosen)
  const id = JSON.stringify([search, resource])
  const pages = usePages(id, 10)
  const query = useQuery(
    `${id} ${pages.size} ${pages.cursor}`,
    (signal) => readEntities({ resource, search, cursor: pages.cursor, limit: pages.size }, { signal }),
    { keepPrevious: true },
  )
  const columns = useColumns(resources).filter(({ name }) => only === undefined || name !== 'resource')
  const isFiltered = search !== '' || chosen !== ''
  return (
    <Panel title={texts.entities} lead={only === undefined ? texts.entitiesLead : undefined} flush>
      <div className="limit-filters">
        <SearchInput label={texts.searchEntities} value={typed} onChange={setTyped} />
        {only === undefined && (
          <Autocomplete
            aria-label={texts.ofResource}
            placeholder={texts.ofResource}
            data={[...(resources?.levels.keys() ?? [])]}
            limit={50}
            value={typedResource}
            onChange={setTypedResource}
            spellCheck={false}
          />
        )}
      </div>
      <div className="limit-table">
        <DataTable
          label={texts.entities}
          columns={columns}
          rows={query.data?.items}
          rowKey={({ identifier, resource: of }) => `${of} ${identifier}`}
          query={query}
          empty={
            isFiltered ? (query.data?.nextCursor ? texts.notYetFound : texts.nothingFound) : texts.noEntities
          }
          pages={pages}
          nextCursor={query.data?.nextCursor}
        />
      </div>
    </Panel>
  )
}

function useColumns(resources: Resources | undefined): Column<Listed>[] {
  const { limits: texts } = useTexts()
  const order = levelsFrom('entity')
  return [
    {
      name: 'entity',
      header: texts.entity,
      cell: ({ identifier = '', resource }) => (
        <Anchor component={Link} href={entityPath(identifier, resource)} className="limit-name">
          {identifier}
        </Anchor>
      ),
    },
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
      cell: ({ resource, config }) => {
        if (resources === undefined) return ''
        const levels = { ...resources.levels.get(resource), entity: config }
        const own = effectiveLimits(levels, order).filter(({ from }) => from.includes('entity'))
        return own.length === 0 ? texts.onlyOthers : <LimitList items={own} />
      },
    },
  ]
}
