import { Anchor, Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { ActionName, ActorName, type Entry } from '../audit/audit.js'
import { EntryDialog } from '../audit/entry-dialog.js'
import { findEntries } from '../audit/find.js'

const PAGE_SIZE = 10

/** The audit entries of one list. */
export function HistoryPanel({ id, changes }: { id: string; changes: number }) {
  const { audit, allowlists } = useTexts()
  const texts = allowlists.history
  const [shown, setShown] = useState<Entry>()
  const target = `allowlist:${id}`
  const pages = usePages(`${target} ${changes}`)
  const query = useQuery(
    `${target} ${changes} ${pages.cursor}`,
    (signal) => findEntries({ target, limit: PAGE_SIZE, cursor: pages.cursor }, signal),
    { keepPrevious: true },
  )
  const columns: Column<Entry>[] = [
    { name: 'at', header: audit.at, cell: ({ at }) => <Time value={at} /> },
    {
      name: 'action',
      header: audit.action,
      cell: (entry) => (
        <>
          <ActionName entry={entry} />
          {entry.target.customerId !== undefined && (
            <div className="list-id mono">{entry.target.customerId}</div>
          )}
        </>
      ),
    },
    { name: 'actor', header: audit.actor, cell: ({ actor }) => <ActorName actor={actor} /> },
    {
      name: 'details',
      header: audit.details,
      align: 'right',
      cell: (entry) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={audit.showDetails(`${entry.action} ${entry.at}`)}
          onClick={() => setShown(entry)}
        >
          {audit.details}
        </Button>
      ),
    },
  ]
  return (
    <Panel
      title={texts.title}
      lead={texts.lead}
      flush
      actions={
        <Anchor component={Link} href={`/audit?${new URLSearchParams({ target })}`} size="sm">
          {texts.all}
        </Anchor>
      }
    >
      <DataTable
        label={texts.title}
        columns={columns}
        rows={query.data?.items}
        rowKey={(entry) => entry.id}
        query={query}
        empty={query.data?.nextCursor === undefined ? texts.none : audit.keepGoing}
        pages={pages}
        nextCursor={query.data?.nextCursor}
      />
      <EntryDialog entry={shown} onClose={() => setShown(undefined)} />
    </Panel>
  )
}
