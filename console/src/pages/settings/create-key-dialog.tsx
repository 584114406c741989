import { Button, Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, type CreateKeyAnswer, fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { CopyButton } from '../../parts/copy-button.js'
import { ProblemView } from '../../parts/problem.js'
import { signIn } from '../../session/sign-in.js'
import { type Scope, useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'

export interface CreateKeyDialogProps {
  opened: boolean
  onClose(): void
  onCreated(): void
}

export function CreateKeyDialog({ opened, onClose, onCreated }: CreateKeyDialogProps) {
  const { common, settings: texts } = useTexts()
  const { keysRequired } = useSignedIn()
  const [created, setCreated] = useState<CreateKeyAnswer>()
  const close = (): void => {
    // After the first key every call needs a key, so the user who created it continues with it.
    if (created !== undefined && !keysRequired)
      void signIn(created.key).then(onCreated, () => location.reload())
    else if (created !== undefined) onCreated()
    setCreated(undefined)
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={created === undefined ? texts.createTitle : texts.createdTitle}
      closeButtonProps={{ 'aria-label': common.close }}
      // A key that was not copied is lost, so a stray click or key press must not close the dialog.
      closeOnClickOutside={created === undefined}
      closeOnEscape={created === undefined}
      withCloseButton={created === undefined}
      size="lg"
    >
      {created === undefined ? (
        <CreateForm onCreated={setCreated} onCancel={close} />
      ) : (
        <Created created={created} onDone={close} />
      )}
    </Modal>
  )
}

interface CreateFormProps {
  onCreated(created: CreateKeyAnswer): void
  onCancel(): void
}

function CreateForm({ onCreated, onCancel }: CreateFormProps) {
  const { common, settings: texts } = useTexts()
  const { keysRequired } = useSignedIn()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(keysRequired ? ['check'] : ['admin'])
  const { run, running, problem } = useAction(async () => {
    const created = await api.createKey({ body: { name: name.trim(), scopes: scopes as Scope[] } })
    announce(texts.created(created.name))
    onCreated(created)
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void run()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {!keysRequired && <div className="notice">{texts.firstKey}</div>}
        <TextInput
          label={texts.name}
          description={texts.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldProblem(problem, 'name')}
          autoComplete="off"
          data-autofocus
        />
        <Checkbox.Group
          label={texts.scopes}
          value={scopes}
          onChange={setScopes}
          error={fieldProblem(problem, 'scopes')}
        >
          <div className="scope-grid">
            {(Object.keys(texts.scopesMeaning) as Scope[]).map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={scope}
                description={texts.scopesMeaning[scope]}
                // Without an admin key no further key could be created here.
                disabled={!keysRequired && scope === 'admin'}
              />
            ))}
          </div>
        </Checkbox.Group>
        <ProblemView problem={problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {common.cancel}
          </Button>
          <Button type="submit" loading={running}>
            {texts.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Created({ created, onDone }: { created: CreateKeyAnswer; onDone(): void }) {
  const { settings: texts } = useTexts()
  return (
    <Stack gap="md">
      <div className="notice">{texts.createdLead}</div>
      <div className="secret">
        <code className="mono" data-testid="new-key">
          {created.key}
        </code>
        <CopyButton text={created.key} label={created.name} />
      </div>
      <Group justify="flex-end">
        <Button onClick={onDone}>{texts.done}</Button>
      </Group>
    </Stack>
  )
}
