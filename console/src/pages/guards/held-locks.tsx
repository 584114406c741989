import { Anchor } from '@mantine/core'
import { api, type ListLocksAnswer } from '../../api/client.js'
import type { Column } from '../../parts/data-table.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Bulk, Explorer } from './explorer.js'

type Lock = ListLocksAnswer['items'][number]

/** The locks that are held now. */
export function HeldLocks({ changes, onAsk }: { changes: number; onAsk(name: string): void }) {
  const { guards } = useTexts()
  const texts = guards.locks
  const { can } = useSignedIn()
  const format = useFormat()
  const columns: Column<Lock>[] = [
    {
      name: 'name',
      header: texts.name,
      cell: ({ name }) => (
        <Anchor component="button" type="button" className="mono" onClick={() => onAsk(name)}>
          {name}
        </Anchor>
      ),
    },
    {
      name: 'held',
      header: texts.heldFor,
      cell: ({ heldForMs }) => (heldForMs === undefined ? '–' : format.duration(heldForMs)),
    },
    {
      name: 'expires',
      header: texts.expiresAt,
      cell: ({ expiresAt }) => (expiresAt === undefined ? '–' : <Time value={expiresAt} ago />),
    },
    { name: 'fence', header: texts.fence, align: 'right', cell: ({ fence }) => <code>{fence}</code> },
  ]
  const bulk: Bulk<Lock> = {
    label: texts.releaseMany,
    title: texts.releaseManyTitle,
    text: texts.releaseText,
    done: texts.releasedMany,
    act: ({ name }, call) => api.forceReleaseLock({ name }, call),
  }
  return (
    <Explorer
      title={texts.listTitle}
      empty={texts.noneHeld}
      columns={columns}
      changes={changes}
      list={({ state: _, ...asking }, signal) => api.listLocks(asking, { signal })}
      rowKey={({ name }) => name}
      bulk={can('admin') ? bulk : undefined}
    />
  )
}
