import { api, type ImportStatus } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Folded } from '../../parts/panel.js'
import { State, type StateKind } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'

const KINDS: Record<ImportStatus['state'], StateKind> = {
  running: 'warning',
  completed: 'good',
  interrupted: 'bad',
  failed: 'bad',
}
const POLL_MS = 5_000

/** The imports of a list with their results. */
export function PastImports({ id }: { id: string }) {
  const { allowlists } = useTexts()
  return (
    <Folded title={allowlists.imports.title} note={allowlists.imports.lead}>
      <Imports id={id} />
    </Folded>
  )
}

function Imports({ id }: { id: string }) {
  const { allowlists } = useTexts()
  const texts = allowlists.imports
  const query = useQuery(`imports ${id}`, (signal) => api.listImports({ id }, { signal }), {
    pollMs: POLL_MS,
  })
  const columns: Column<ImportStatus>[] = [
    { name: 'at', header: texts.startedAt, cell: ({ startedAt }) => <Time value={startedAt} /> },
    { name: 'mode', header: texts.mode, cell: ({ mode }) => texts.modes[mode] },
    {
      name: 'state',
      header: texts.state,
      cell: ({ state }) => <State kind={KINDS[state]}>{texts.states[state]}</State>,
    },
    { name: 'result', header: texts.result, cell: (status) => <Result status={status} /> },
  ]
  return (
    <div className="panel">
      <DataTable
        label={texts.title}
        columns={columns}
        rows={query.data?.items}
        rowKey={({ importId }) => importId}
        query={query}
        empty={texts.none}
      />
    </div>
  )
}

function Result({ status }: { status: ImportStatus }) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  const counts = (['added', 'removed', 'unchanged', 'rejected'] as const).filter((name) => status[name] > 0)
  return counts.length === 0
    ? texts.rows(format.number(status.rowsAcknowledged))
    : counts.map((name) => `${texts[name]}: ${format.number(status[name])}`).join(' · ')
}
