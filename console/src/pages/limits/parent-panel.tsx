import { Anchor, Button, Group, Switch, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { api, fieldProblem, type GetEntityAnswer } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import type { SubjectProps } from './entity.js'
import { entityPath } from './model.js'
import { orNothing } from './store.js'

/** The entity whose limits apply to this one too. */
export function ParentPanel({ entity, resource, onChanged }: SubjectProps & { onChanged(): void }) {
  const { limits: texts } = useTexts()
  const { can } = useSignedIn()
  const [editing, setEditing] = useState(false)
  const [removing, setRemoving] = useState(false)
  const query = useQuery('parent', async (signal) => {
    return { record: await orNothing(() => api.getEntity({ id: entity }, { signal })) }
  })
  const record = query.data?.record
  const changed = (): void => {
    setEditing(false)
    query.reload()
    onChanged()
  }
  return (
    <Panel title={texts.parent} lead={texts.parentLead}>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.data !== undefined && !editing && <Shown record={record} resource={resource} />}
      {editing && (
        <ParentForm entity={entity} record={record} onSaved={changed} onCancel={() => setEditing(false)} />
      )}
      {query.data !== undefined && !editing && can('admin') && (
        <Group gap="xs" mt="sm">
          <Button variant="default" size="xs" onClick={() => setEditing(true)}>
            {record === undefined ? texts.setParent : texts.changeParent}
          </Button>
          {record !== undefined && (
            <Button variant="default" className="dangerous" size="xs" onClick={() => setRemoving(true)}>
              {texts.removeParent}
            </Button>
          )}
        </Group>
      )}
      <ConfirmDialog
        opened={removing}
        onClose={() => setRemoving(false)}
        title={texts.removeParentTitle}
        confirmLabel={texts.removeParent}
        onConfirm={async (call) => {
          await api.deleteEntity({ id: entity }, call)
          announce(texts.parentRemoved)
          changed()
        }}
      >
        {texts.removeParentText(entity, record?.parent ?? '')}
      </ConfirmDialog>
    </Panel>
  )
}

function Shown({ record, resource }: { record: GetEntityAnswer | undefined; resource: string }) {
  const { limits: texts } = useTexts()
  if (record === undefined) return <p className="detail">{texts.noParent}</p>
  return (
    <p className="parent">
      <Anchor component={Link} href={entityPath(record.parent, resource)} className="limit-name">
        {record.parent}
      </Anchor>{' '}
      <span className="detail">{record.cascade ? texts.cascades : texts.doesNotCascade}</span>
    </p>
  )
}

interface ParentFormProps {
  entity: string
  record: GetEntityAnswer | undefined
  onSaved(): void
  onCancel(): void
}

function ParentForm({ entity, record, onSaved, onCancel }: ParentFormProps) {
  const { limits: texts, common, guards } = useTexts()
  const [parent, setParent] = useState(record?.parent ?? '')
  const [cascade, setCascade] = useState(record?.cascade ?? true)
  const [isMissing, setMissing] = useState(false)
  const { run, running, problem } = useAction(async () => {
    await api.setEntity({ id: entity, body: { parent: parent.trim(), cascade } })
    announce(texts.parentSaved)
    onSaved()
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setMissing(parent.trim() === '')
    if (parent.trim() !== '') void run()
  }
  return (
    <form onSubmit={submit} noValidate className="parent-form">
      <TextInput
        label={texts.parentEntity}
        value={parent}
        onChange={(event) => setParent(event.currentTarget.value)}
        error={isMissing ? guards.missing : fieldProblem(problem, 'parent')}
        autoComplete="off"
        spellCheck={false}
      />
      <Switch
        label={texts.cascade}
        checked={cascade}
        onChange={(event) => setCascade(event.currentTarget.checked)}
      />
      <ProblemView problem={problem} />
      <Group gap="xs">
        <Button type="submit" size="xs" loading={running}>
          {common.save}
        </Button>
        <Button variant="default" size="xs" onClick={onCancel}>
          {common.cancel}
        </Button>
      </Group>
    </form>
  )
}
