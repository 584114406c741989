import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, type CreateKeyAnswer, fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { CopyButton } from '../../parts/copy-button.js'
import { signIn } from '../../session/sign-in.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { bodyOf, type Grant, KeyForm } from './key-form.js'

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
  const { settings: texts } = useTexts()
  const { keysRequired } = useSignedIn()
  const [name, setName] = useState('')
  const [grant, setGrant] = useState<Grant>({ scopes: keysRequired ? ['check'] : ['admin'] })
  const action = useAction(async () => {
    const created = await api.createKey({ body: { name: name.trim(), ...bodyOf(grant) } })
    announce(texts.created(created.name))
    onCreated(created)
  })
  return (
    <KeyForm
      grant={grant}
      onChange={setGrant}
      action={action}
      label={texts.create}
      onCancel={onCancel}
      isFirst={!keysRequired}
    >
      {!keysRequired && <div className="notice">{texts.firstKey}</div>}
      <TextInput
        label={texts.name}
        description={texts.nameHint}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldProblem(action.problem, 'name')}
        autoComplete="off"
        data-autofocus
      />
    </KeyForm>
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
