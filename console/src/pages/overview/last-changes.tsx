import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useListNames } from '../../data/list-names.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { type Entry, listsIn } from '../audit/audit.js'
import { findEntries } from '../audit/find.js'
import { EntrySentence } from '../audit/sentence.js'

const SHOWN = 7
const POLL_MS = 10_000

/** The newest changes as sentences. */
export function LastChanges() {
  const { overview: texts } = useTexts()
  const query = useQuery('changes', (signal) => findEntries({ limit: SHOWN }, signal), { pollMs: POLL_MS })
  const entries = query.data?.items ?? []
  return (
    <Panel
      title={texts.changes}
      weight="quiet"
      actions={
        <Anchor component={Link} href="/audit" size="sm">
          {texts.allChanges}
        </Anchor>
      }
    >
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.data !== undefined && entries.length === 0 && <p className="detail">{texts.noChanges}</p>}
      <EntryList entries={entries} />
    </Panel>
  )
}

export function EntryList({ entries }: { entries: readonly Entry[] }) {
  const names = useListNames(listsIn(entries))
  return (
    <ul className="entry-list">
      {entries.map((entry) => (
        <li key={entry.id}>
          <EntrySentence entry={entry} names={names} />{' '}
          <span className="detail">
            <Time value={entry.at} ago />
          </span>
        </li>
      ))}
    </ul>
  )
}
