import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, type ListKeysAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { CreateKeyDialog } from './create-key-dialog.js'

type ApiKey = ListKeysAnswer['items'][number]

export function KeysPanel() {
  const { settings: texts } = useTexts()
  const session = useSignedIn()
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<string>()
  const query = useQuery('keys', (signal) => api.listKeys({}, { signal }))
  const columns: Column<ApiKey>[] = [
    { name: 'name', header: texts.name, cell: ({ name }) => <strong>{name}</strong> },
    { name: 'scopes', header: texts.scopes, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { name: 'createdAt', header: texts.createdAt, cell: ({ createdAt }) => <Time value={createdAt} /> },
    {
      name: 'actions',
      header: texts.actions,
      align: 'right',
      cell: ({ name }) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={texts.revokeKey(name)}
          onClick={() => setRevoking(name)}
        >
          {texts.revoke}
        </Button>
      ),
    },
  ]
  return (
    <Panel
      title={texts.keys}
      lead={texts.keysLead}
      flush
      actions={
        <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
          {texts.create}
        </Button>
      }
    >
      <DataTable
        label={texts.keys}
        columns={columns}
        rows={query.data?.items}
        rowKey={({ name }) => name}
        query={query}
        empty={texts.noKeys}
      />
      <CreateKeyDialog opened={creating} onClose={() => setCreating(false)} onCreated={query.reload} />
      <ConfirmDialog
        opened={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={texts.revokeTitle}
        confirmLabel={texts.revoke}
        onConfirm={async () => {
          await api.revokeKey({ name: revoking! })
          announce(texts.revoked(revoking!))
          query.reload()
        }}
      >
        {revoking !== undefined && texts.revokeText(revoking)}
        {revoking !== undefined && revoking === session.name && (
          <p>
            <strong>{texts.revokeOwn}</strong>
          </p>
        )}
      </ConfirmDialog>
    </Panel>
  )
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  return (
    <span className="tags">
      {scopes.map((scope) => (
        <Tag key={scope}>{scope}</Tag>
      ))}
    </span>
  )
}
