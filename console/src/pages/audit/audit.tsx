import { Button } from '@mantine/core'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { ListAuditAnswer } from '../../api/client.js'
import { useListNames } from '../../data/list-names.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { EntryDialog } from './entry-dialog.js'
import { ExportButton } from './export-button.js'
import { type Filter, FilterForm, NAMES } from './filter-form.js'
import { findEntries } from './find.js'
import { EntrySentence } from './sentence.js'

export type Entry = ListAuditAnswer['items'][number]

/** The filter is in the URL, so that other pages can link to it: `/audit?target=allowlist:vip`. */
export default function AuditPage() {
  const { audit: texts } = useTexts()
  const { reachesAll } = useSignedIn()
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const [shown, setShown] = useState<Entry>()
  const filter = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ''])) as Filter
  const id = JSON.stringify(filter)
  const input = {
    target: filter.target || undefined,
    actor: filter.actor || undefined,
    search: filter.search || undefined,
    action: filter.action || undefined,
    from: filter.from || undefined,
    to: filter.to || undefined,
  }
  const pages = usePages(id, 50)
  const query = useQuery(
    `${id} ${pages.size} ${pages.cursor}`,
    (signal) => findEntries({ ...input, limit: pages.size, cursor: pages.cursor }, signal),
    { keepPrevious: true },
  )
  const apply = (next: Filter): void => {
    const given = Object.entries(next).filter(([, value]) => value !== '')
    navigate(`/audit${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`)
    query.reload()
  }
  const more = query.data?.nextCursor !== undefined
  return (
    <Page title={texts.title} lead={texts.lead} actions={reachesAll && <ExportButton input={input} />}>
      <Panel flush>
        <FilterForm
          filter={filter}
          actors={(query.data?.items ?? []).map(({ actor }) => actor.name)}
          onApply={apply}
        />
        <DataTable
          label={texts.title}
          stacked="plain"
          columns={useColumns(setShown, query.data?.items ?? [])}
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

/** Lists among these entries, whose names the sentences say. */
export const listsIn = (entries: readonly Entry[]): string[] =>
  entries.filter(({ target }) => target.kind === 'allowlist').map(({ target }) => target.id)

export function useColumns(show: (entry: Entry) => void, entries: readonly Entry[]): Column<Entry>[] {
  const { audit: texts } = useTexts()
  const names = useListNames(listsIn(entries))
  return [
    { name: 'at', header: texts.at, cell: ({ at }) => <Time value={at} /> },
    { name: 'action', header: texts.change, cell: (entry) => <EntrySentence entry={entry} names={names} /> },
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
