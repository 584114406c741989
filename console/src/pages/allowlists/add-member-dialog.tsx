import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { fromInput, localZone } from './wave/zoned.js'

export interface AddMemberDialogProps {
  id: string
  /** Initial customer; undefined while the dialog is closed. */
  customer: string | undefined
  onClose(): void
  onAdded(): void
}

export function AddMemberDialog({ customer, onClose, ...props }: AddMemberDialogProps) {
  const { allowlists, common } = useTexts()
  return (
    <Modal
      opened={customer !== undefined}
      onClose={onClose}
      title={allowlists.members.addTitle}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {customer !== undefined && <AddForm {...props} customer={customer} onClose={onClose} />}
    </Modal>
  )
}

/** Undefined when the text is empty, null when it is not an object. */
function objectOf(text: string): Record<string, unknown> | undefined | null {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function AddForm({ id, customer: start, onClose, onAdded }: AddMemberDialogProps & { customer: string }) {
  const { allowlists, common, waves } = useTexts()
  const texts = allowlists.members
  const [customer, setCustomer] = useState(start)
  const [addedBy, setAddedBy] = useState('')
  const [metadata, setMetadata] = useState('')
  const [expires, setExpires] = useState('')
  const [errors, setErrors] = useState<{ customer?: string; metadata?: string; expires?: string }>({})
  const expiresAt = fromInput(expires, localZone())
  const { run, running, problem } = useAction(async () => {
    const details = objectOf(metadata)
    const body = {
      ...(addedBy.trim() === '' ? {} : { addedBy: addedBy.trim() }),
      ...(details ? { metadata: details } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    }
    const { added } = await api.addMember({ id, customerId: customer.trim(), body })
    announce(added ? texts.added(customer.trim()) : texts.replaced(customer.trim()))
    onClose()
    onAdded()
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const wrong = {
      ...(customer.trim() === '' ? { customer: texts.missing } : {}),
      ...(objectOf(metadata) === null ? { metadata: texts.metadataWrong } : {}),
      ...(expires !== '' && expiresAt === undefined ? { expires: waves.errors.time } : {}),
    }
    setErrors(wrong)
    if (Object.keys(wrong).length === 0) void run()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {texts.addLead}
        </Text>
        <TextInput
          label={texts.customer}
          value={customer}
          onChange={(event) => setCustomer(event.currentTarget.value)}
          error={errors.customer ?? fieldProblem(problem, 'customerId')}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <TextInput
          label={texts.addedBy}
          description={texts.addedByHint}
          value={addedBy}
          onChange={(event) => setAddedBy(event.currentTarget.value)}
          error={fieldProblem(problem, 'addedBy')}
          autoComplete="off"
        />
        <Textarea
          label={texts.metadataLabel}
          description={texts.metadataHint}
          value={metadata}
          onChange={(event) => setMetadata(event.currentTarget.value)}
          error={errors.metadata ?? fieldProblem(problem, 'metadata')}
          rows={2}
          spellCheck={false}
          classNames={{ input: 'mono' }}
        />
        <TextInput
          type="datetime-local"
          label={`${texts.expiresAt} (${localZone()})`}
          description={
            expiresAt === undefined
              ? texts.expiryHint
              : waves.rule.utc(new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' '))
          }
          value={expires}
          onChange={(event) => setExpires(event.currentTarget.value)}
          error={errors.expires ?? fieldProblem(problem, 'expiresAt')}
        />
        <ProblemView problem={problem} fields={['customerId', 'addedBy', 'metadata', 'expiresAt']} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" loading={running}>
            {texts.add}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
