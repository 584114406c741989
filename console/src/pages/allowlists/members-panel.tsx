import { Button } from '@mantine/core'
import { useState } from 'react'
import type { CallOptions } from '../../../../src/client/operation.js'
import { type Allowlist, api, type Member } from '../../api/client.js'
import { useTyped } from '../../data/use-lists.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { AddMemberDialog } from './add-member-dialog.js'
import { Expiry } from './expiry.js'
import { MemberLookup } from './member-lookup.js'

export interface MembersPanelProps {
  list: Allowlist
  /** Another number means that something changed: load again. */
  changes: number
  onChanged(): void
}

/** The customers of an explicit list: find, add, remove, browse. */
export function MembersPanel({ list, changes, onChanged }: MembersPanelProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.members
  const { can } = useSignedIn()
  const [adding, setAdding] = useState<string>()
  const [removing, setRemoving] = useState<string>()
  const [typed, setTyped] = useState('')
  const prefix = useTyped(typed)
  const pages = usePages(`${list.id} ${prefix}`, 10)
  const query = useQuery(
    `${list.id} ${prefix} ${pages.size} ${pages.cursor} ${changes}`,
    (signal) =>
      api.listMembers(
        { id: list.id, limit: pages.size, cursor: pages.cursor, prefix: prefix || undefined },
        { signal },
      ),
    { keepPrevious: true },
  )
  const remove = async (call: CallOptions): Promise<void> => {
    await api.removeMember({ id: list.id, customerId: removing! }, call)
    announce(texts.removed(removing!))
    onChanged()
  }
  const add = (
    <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding('')}>
      {texts.add}
    </Button>
  )
  return (
    <Panel title={texts.title} weight="main" flush actions={can('admin') && add}>
      <MemberLookup
        id={list.id}
        changes={changes}
        onTyped={setTyped}
        onAdd={setAdding}
        onRemove={setRemoving}
      />
      <DataTable
        label={texts.title}
        stacked="labelled"
        columns={useColumns(can('admin') ? setRemoving : undefined, query.data?.items ?? [])}
        rows={query.data?.items}
        rowKey={({ customerId }) => customerId}
        query={query}
        empty={prefix === '' ? texts.none : texts.nobodySo}
        pages={pages}
        nextCursor={query.data?.nextCursor}
      />
      <AddMemberDialog
        id={list.id}
        customer={adding}
        onClose={() => setAdding(undefined)}
        onAdded={onChanged}
      />
      <ConfirmDialog
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={texts.removeTitle}
        confirmLabel={texts.remove}
        onConfirm={remove}
      >
        {removing !== undefined && texts.removeText(removing, list.name)}
      </ConfirmDialog>
    </Panel>
  )
}

/** Columns that say nothing about anybody are left out. */
function useColumns(
  onRemove: ((customer: string) => void) | undefined,
  members: readonly Member[],
): Column<Member>[] {
  const { allowlists } = useTexts()
  const texts = allowlists.members
  const all: Column<Member>[] = [
    {
      name: 'customer',
      header: texts.customer,
      cell: ({ customerId }) => <span className="mono">{customerId}</span>,
    },
    { name: 'addedAt', header: texts.addedAt, cell: ({ addedAt }) => <Time value={addedAt} /> },
    { name: 'addedBy', header: texts.addedBy, cell: ({ addedBy }) => addedBy ?? '–' },
    { name: 'expiresAt', header: texts.expiresAt, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
    {
      name: 'metadata',
      header: texts.metadata,
      cell: ({ metadata }) =>
        metadata === undefined ? '–' : <div className="mono member-details">{JSON.stringify(metadata)}</div>,
    },
  ]
  const isSaid = (name: 'addedBy' | 'metadata'): boolean =>
    members.some((member) => member[name] !== undefined)
  const columns = all.filter(({ name }) => (name !== 'addedBy' && name !== 'metadata') || isSaid(name))
  if (onRemove === undefined) return columns
  const actions: Column<Member> = {
    name: 'actions',
    header: texts.actions,
    align: 'right',
    cell: ({ customerId }) => (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={texts.removeOne(customerId)}
        onClick={() => onRemove(customerId)}
      >
        {texts.remove}
      </Button>
    ),
  }
  return [...columns, actions]
}
