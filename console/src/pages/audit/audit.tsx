import { Button } from '@mantine/core'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { ListAuditAnswer } from '../../api/client.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State, Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { EntryDialog } from './entry-dialog.js'
import { type Filter, FilterForm, isoOf, NAMES } from './filter-form.js'
import { findEntries } from './find.js'

export type Entry = ListAuditAnswer['items'][number]

const PAGE_SIZE = 50

/** The filter is in the URL, so that other pages can link to it: `/audit?target=allowlist:vip`. */
export default function AuditPage() {
  const { audit: texts } = useTexts()
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const [shown, setShown] = useState<Entry>()
  const filter = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ''])) as Filter
  const id = JSON.stringify(filter)
  const pages = usePages(id)
  const query = useQuery(
    `${id} ${pages.cursor}`,
    (signal) =>
      findEntries(
        {
          target: filter.target || undefined,
          actor: filter.actor || undefined,
          search: filter.search || undefined,
          action: filter.action || undefined,
          from: isoOf(filter.from),
          to: isoOf(filter.to),
          limit: PAGE_SIZE,
          cursor: pages.cursor,
        },
        signal,
      ),
    { keepPrevious: true },
  )
  const apply = (next: Filter): void => {
    const given = Object.entries(next).filter(([, value]) => value !== '')
    navigate(`/audit${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`)
    query.reload()
  }
  const more = query.data?.nextCursor !== undefined
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Panel flush>
        <FilterForm key={id} filter={filter} onApply={apply} />
        <DataTable
          label={texts.title}
          columns={useColumns(setShown)}
          rows={query.data?.items}
          rowKey={(entry) => entry.id}
          query={query}
          empty={more ? texts.keepGoing : texts.noEntries}
          pages={pages}
          nextCursor={query.data?.nextCursor}
        />
      </Panel>
      <EntryDialog entry={shown} onClose={() => setShown(undefined)} />
    </Page>
  )
}

function useColumns(show: (entry: Entry) => void): Column<Entry>[] {
  const { audit: texts } = useTexts()
  return [
    { name: 'at', header: texts.at, cell: ({ at }) => <Time value={at} /> },
    { name: 'actor', header: texts.actor, cell: ({ actor }) => <ActorName actor={actor} /> },
    { name: 'action', header: texts.action, cell: (entry) => <ActionName entry={entry} /> },
    {
      name: 'target',
      header: texts.target,
      cell: ({ target }) => (
        <span className="mono">
          {target.id}
          {target.customerId === undefined ? '' : ` · ${target.customerId}`}
          {target.entity === undefined ? '' : ` · ${target.entity}`}
        </span>
      ),
    },
    {
      name: 'details',
      header: texts.details,
      align: 'right',
      cell: (entry) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={texts.showDetails(`${entry.action} ${entry.target.id}`)}
          onClick={() => show(entry)}
        >
          {texts.details}
        </Button>
      ),
    },
  ]
}

export function ActorName({ actor }: { actor: Entry['actor'] }) {
  const kinds: Record<string, string> = useTexts().audit.actorKinds
  return (
    <span className="tags">
      {actor.name}
      <Tag>{kinds[actor.kind] ?? actor.kind}</Tag>
    </span>
  )
}

export function ActionName({ entry: { action, outcome } }: { entry: Entry }) {
  const { audit: texts } = useTexts()
  const actions: Record<string, string> = texts.actions
  const outcomes: Record<string, string> = texts.outcomes
  return (
    <span className="tags">
      <span title={action}>{actions[action] ?? action}</span>
      {outcome !== undefined && <State kind="warning">{outcomes[outcome] ?? outcome}</State>}
    </span>
  )
}
