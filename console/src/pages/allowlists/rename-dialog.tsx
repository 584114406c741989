import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { type Allowlist, api, fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { useTexts } from '../../texts/language.js'
import { etag, SaveProblem } from './save-problem.js'

export interface RenameDialogProps {
  list: Allowlist
  opened: boolean
  onClose(): void
  onChanged(): void
}

export function RenameDialog({ list, opened, onClose, onChanged }: RenameDialogProps) {
  const { allowlists, common } = useTexts()
  const texts = allowlists.rename
  const [name, setName] = useState(list.name)
  // The list when the dialog was opened: the page keeps loading it, and changes of others must not be overwritten.
  const [seen, setSeen] = useState(list)
  const [isLoadingAnew, setLoadingAnew] = useState(false)
  const { run, running, problem, reset } = useAction(async () => {
    const body = { name: name.trim() }
    const renamed = await api.updateAllowlist({ id: list.id, ifMatch: etag(seen.version), body })
    announce(texts.renamed(renamed.name))
    onClose()
    onChanged()
  })
  const look = (): void => {
    setSeen(list)
    setName(list.name)
    setLoadingAnew(false)
    reset()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: resets whenever it opens.
  useEffect(look, [opened])
  // biome-ignore lint/correctness/useExhaustiveDependencies: also after a reload was requested, when the list has changed.
  useEffect(() => {
    if (isLoadingAnew && list.version !== seen.version) look()
  }, [isLoadingAnew, list.version])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void run()
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={texts.title}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            label={texts.label}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldProblem(problem, 'name')}
            autoComplete="off"
            data-autofocus
          />
          <SaveProblem
            problem={problem}
            onReload={() => {
              setLoadingAnew(true)
              onChanged()
            }}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {common.cancel}
            </Button>
            <Button type="submit" loading={running} disabled={name.trim() === seen.name}>
              {texts.open}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
