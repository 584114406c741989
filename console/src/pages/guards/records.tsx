import { Anchor } from '@mantine/core'
import { api, type ListIdempotencyRecordsAnswer } from '../../api/client.js'
import type { Column } from '../../parts/data-table.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Asking, type Bulk, Explorer, type Page } from './explorer.js'
import { KINDS, situationOf } from './situation.js'

type Row = ListIdempotencyRecordsAnswer['items'][number]

const STATUSES = ['IN_PROGRESS', 'COMPLETED', 'FAILED'] as const
const ENDED = 'ENDED'

export interface RecordsProps {
  changes: number
  onAsk(record: { operation: string; key: string }): void
}

/** The records of idempotent requests, without their answers. */
export function Records({ changes, onAsk }: RecordsProps) {
  const { guards } = useTexts()
  const texts = guards.idempotency
  const { can } = useSignedIn()
  const format = useFormat()
  const columns: Column<Row>[] = [
    {
      name: 'key',
      header: texts.key,
      cell: ({ operation, key }) => (
        <Anchor component="button" type="button" className="mono" onClick={() => onAsk({ operation, key })}>
          {operation} {key}
        </Anchor>
      ),
    },
    { name: 'state', header: guards.explore.state, cell: (row) => <RecordState row={row} /> },
    { name: 'age', header: guards.explore.age, cell: ({ ageMs }) => format.duration(ageMs) },
    {
      name: 'attempt',
      header: texts.attempt,
      align: 'right',
      cell: ({ attempt }) => format.number(attempt),
    },
    {
      name: 'expires',
      header: texts.expiresAt,
      cell: ({ expiresAt }) => <Time value={expiresAt} ago />,
    },
  ]
  const bulk: Bulk<Row> = {
    label: texts.forgetMany,
    title: texts.forgetManyTitle,
    text: texts.forgetManyText,
    done: texts.forgottenMany,
    act: ({ operation, key }, call) => api.deleteIdempotencyRecord({ operation, key }, call),
  }
  return (
    <Explorer
      title={texts.listTitle}
      empty={guards.explore.nothing}
      columns={columns}
      changes={changes}
      states={[
        ...STATUSES.map((value) => ({ value, label: texts.states[value] })),
        { value: ENDED, label: guards.explore.ended },
      ]}
      list={({ state, ...asking }, signal) => {
        if (state === ENDED) return listEnded(asking, signal)
        const status = STATUSES.find((one) => one === state)
        return api.listIdempotencyRecords({ ...asking, status }, { signal })
      }}
      rowKey={({ operation, key }) => `${operation} ${key}`}
      bulk={can('admin') ? bulk : undefined}
    />
  )
}

/** Claims in progress whose lease has ended, by the clock of the server. */
async function listEnded(asking: Omit<Asking, 'state'>, signal: AbortSignal): Promise<Page<Row>> {
  const page = await api.listIdempotencyRecords({ ...asking, status: 'IN_PROGRESS' }, { signal })
  return { ...page, items: page.items.filter((row) => situationOf(row) !== 'IN_PROGRESS') }
}

/** "In progress", or since when the claim has ended. */
function RecordState({ row }: { row: Row }) {
  const { guards } = useTexts()
  const texts = guards.idempotency
  const situation = situationOf(row)
  const hasEnded = situation === 'CLAIM_ENDED' || situation === 'OUTCOME_UNKNOWN'
  return (
    <State kind={KINDS[situation]}>
      {hasEnded && row.leaseUntil !== undefined ? (
        <>
          {texts.endedAgo} <Time value={row.leaseUntil} ago />
        </>
      ) : (
        texts.states[situation]
      )}
    </State>
  )
}
