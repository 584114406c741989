import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.js'
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
import { Expiry } from '../allowlists/expiry.js'
import { CreateKeyDialog } from './create-key-dialog.js'
import { type ApiKey, EditKeyDialog } from './edit-key-dialog.js'

export function KeysPanel() {
  const { settings: texts } = useTexts()
  const session = useSignedIn()
  const [creating, setCreating] = useState(false)
  const [editing, setEditing] = useState<ApiKey>()
  const [revoking, setRevoking] = useState<string>()
  const query = useQuery('keys', (signal) => api.listKeys({}, { signal }))
  const columns: Column<ApiKey>[] = [
    { name: 'name', header: texts.name, cell: ({ name }) => <strong>{name}</strong> },
    { name: 'scopes', header: texts.scopes, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    {
      name: 'createdAt',
      header: texts.createdAt,
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time value={createdAt} />{' '}
          {createdBy !== undefined && <div className="detail">{texts.by(createdBy)}</div>}
        </>
      ),
    },
    {
      name: 'usedAt',
      header: texts.usedAt,
      cell: ({ usedAt }) =>
        usedAt === undefined ? <span className="detail">{texts.unused}</span> : <Time value={usedAt} ago />,
    },
    { name: 'expiresAt', header: texts.expires, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
    {
      name: 'actions',
      header: texts.actions,
      align: 'right',
      cell: (key) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={texts.editKey(key.name)}
            onClick={() => setEditing(key)}
          >
            {texts.edit}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={texts.revokeKey(key.name)}
            onClick={() => setRevoking(key.name)}
          >
            {texts.revoke}
          </Button>
        </Group>
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
        stacked="labelled"
        columns={columns}
        rows={query.data?.items}
        rowKey={({ name }) => name}
        query={query}
        empty={texts.noKeys}
      />
      <CreateKeyDialog opened={creating} onClose={() => setCreating(false)} onCreated={query.reload} />
      <EditKeyDialog edited={editing} onClose={() => setEditing(undefined)} onSaved={query.reload} />
      <ConfirmDialog
        opened={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={texts.revokeTitle}
        confirmLabel={texts.revoke}
        onConfirm={async (call) => {
          await api.revokeKey({ name: revoking! }, call)
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
