import { Button, Group, Modal, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { type Allowlist, api, fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { useReason } from '../../parts/reason.js'
import { useTexts } from '../../texts/language.js'
import { etag, SaveProblem } from './save-problem.js'

export interface EditDialogProps {
  list: Allowlist
  opened: boolean
  onClose(): void
  onChanged(): void
}

export function EditDialog({ list, opened, onClose, onChanged }: EditDialogProps) {
  const { allowlists, common } = useTexts()
  const texts = allowlists.edit
  const [typed, setTyped] = useState(() => labelsOf(list))
  const change = (next: Partial<Labels>): void => setTyped({ ...typed, ...next })
  const reason = useReason()
  // The list when the dialog was opened: the page keeps loading it, and changes of others must not be overwritten.
  const [seen, setSeen] = useState(list)
  const [isLoadingAnew, setLoadingAnew] = useState(false)
  const { run, running, problem, reset } = useAction(async () => {
    const body = changesOf(typed, labelsOf(seen))
    await api.updateAllowlist({ id: list.id, ifMatch: etag(seen.version), body }, reason.call)
    announce(texts.saved)
    onClose()
    onChanged()
  })
  const look = (): void => {
    setSeen(list)
    setTyped(labelsOf(list))
    reason.reset()
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
            label={allowlists.name}
            value={typed.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            error={fieldProblem(problem, 'name')}
            autoComplete="off"
            data-autofocus
          />
          <Textarea
            label={texts.description}
            value={typed.description}
            onChange={(event) => change({ description: event.currentTarget.value })}
            error={fieldProblem(problem, 'description')}
            maxLength={2000}
            autosize
            minRows={2}
            maxRows={8}
          />
          <TextInput
            label={texts.owner}
            description={texts.ownerHint}
            value={typed.owner}
            onChange={(event) => change({ owner: event.currentTarget.value })}
            error={fieldProblem(problem, 'owner')}
            maxLength={256}
            autoComplete="off"
          />
          <TagsInput
            label={texts.tags}
            description={texts.tagsHint}
            value={typed.tags}
            onChange={(tags) => change({ tags })}
            splitChars={[',', ' ']}
            maxTags={20}
            error={
              fieldProblem(problem, 'tags') ??
              problem?.errors.find(({ path }) => path.startsWith('tags'))?.message
            }
          />
          {reason.field}
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
            <Button
              type="submit"
              loading={running}
              disabled={Object.keys(changesOf(typed, labelsOf(seen))).length === 0}
            >
              {common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

interface Labels {
  name: string
  description: string
  owner: string
  tags: string[]
}

const labelsOf = ({ name, description = '', owner = '', tags = [] }: Allowlist): Labels => {
  return { name, description, owner, tags: [...tags] }
}

/** Only what is different: everything else stays as somebody else may have set it. */
function changesOf(typed: Labels, seen: Labels): Partial<Labels> {
  const next: Labels = { ...typed, name: typed.name.trim(), owner: typed.owner.trim(), tags: typed.tags }
  const names = (Object.keys(next) as (keyof Labels)[]).filter(
    (name) => JSON.stringify(next[name]) !== JSON.stringify(seen[name]),
  )
  return Object.fromEntries(names.map((name) => [name, next[name]]))
}
