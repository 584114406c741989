import { Anchor, Skeleton } from '@mantine/core'
import { useRef } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client.js'
import { type Query, useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import type { Entry } from '../audit/audit.js'
import { findEntries } from '../audit/find.js'
import { EntrySentence } from '../audit/sentence.js'

const SHOWN = 6
/** Charts mark more changes than the panel lists. */
const READ = 50
/** The entry of an import may be stored after its answer, and others change the list too. */
const POLL_MS = 5_000

export type History = Query<{ items: Entry[] }>

const targetOf = (id: string): string => `allowlist:${id}`

/** The newest changes of one list. Another number of `changes` loads them again. */
export function useHistory(id: string, changes: number, enabled: boolean): History {
  const target = targetOf(id)
  // The entries of a quiet list may lie behind many thousand newer ones: only the first answer looks so far back.
  const known = useRef<{ target: string; items: Entry[] }>(undefined)
  const load = async (signal: AbortSignal): Promise<{ items: Entry[] }> => {
    const old = known.current?.target === target ? known.current.items : undefined
    const asked = { target, limit: READ }
    const { items } = await (old === undefined
      ? findEntries(asked, signal)
      : api.listAudit(asked, { signal }))
    const ids = new Set(items.map(({ id: entry }) => entry))
    const all = [...items, ...(old ?? []).filter(({ id: entry }) => !ids.has(entry))].slice(0, READ)
    known.current = { target, items: all }
    return { items: all }
  }
  return useQuery(`${target} ${changes}`, load, { keepPrevious: true, pollMs: POLL_MS, enabled })
}

export function HistoryPanel({ id, name, history }: { id: string; name: string; history: History }) {
  const { allowlists } = useTexts()
  const texts = allowlists.history
  const entries = history.data?.items.slice(0, SHOWN)
  return (
    <Panel
      title={texts.title}
      weight="quiet"
      actions={
        <Anchor component={Link} href={`/audit?${new URLSearchParams({ target: targetOf(id) })}`} size="sm">
          {texts.all}
        </Anchor>
      }
    >
      <ProblemView problem={history.problem} retry={history.reload} />
      {history.loading && <Skeleton height={48} radius="md" />}
      {entries?.length === 0 && <p className="detail">{texts.none}</p>}
      <ul className="entry-list">
        {entries?.map((entry) => (
          <li key={entry.id}>
            <EntrySentence entry={entry} names={new Map([[id, name]])} />{' '}
            <span className="detail">
              <Time value={entry.at} ago />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
