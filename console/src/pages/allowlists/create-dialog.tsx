import { Button, Group, Modal, NativeSelect, Radio, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { type Allowlist, api, fieldProblem } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { listPath } from './list-path.js'
import { draftOf, problemsOf, ruleOf } from './wave/draft.js'
import type { Strategy } from './wave/rule.js'
import { type Draft, FORMS, STRATEGIES } from './wave/strategies/index.js'
import { localZone } from './wave/zoned.js'

export function CreateDialog({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { allowlists, common } = useTexts()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={allowlists.create.title}
      size="lg"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <CreateForm onCancel={onClose} />
    </Modal>
  )
}

/** All other fields of a new wave are edited on its page, with a review of the difference. */
function firstDraft(strategy: Strategy): Draft {
  return draftOf({ strategy, ...FORMS[strategy].first(serverNow()) }, localZone())
}

function CreateForm({ onCancel }: { onCancel(): void }) {
  const { allowlists, common, waves } = useTexts()
  const texts = allowlists.create
  const [, navigate] = useLocation()
  const [name, setName] = useState('')
  const [id, setId] = useState('')
  const [type, setType] = useState<Allowlist['type']>('FIXA')
  const [draft, setDraft] = useState(() => firstDraft('PERCENTAGE'))
  const problems = problemsOf(draft, waves.errors)
  const isWrong = type === 'ONDA' && Object.keys(problems).length > 0
  const { FirstFields } = FORMS[draft.strategy]
  const [precision, setPrecision] = useState<Allowlist['precision']>('exact')
  const { run, running, problem } = useAction(async () => {
    const created = await api.createAllowlist({
      body: {
        name: name.trim(),
        type,
        ...(id.trim() === '' ? {} : { id: id.trim() }),
        ...(type === 'ONDA' ? { config: ruleOf(draft) } : { precision }),
      },
    })
    announce(texts.created(created.name))
    navigate(listPath(created.id))
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void run()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          label={allowlists.name}
          description={texts.nameHint}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldProblem(problem, 'name')}
          autoComplete="off"
          data-autofocus
        />
        <TextInput
          label={allowlists.id}
          description={texts.idHint}
          value={id}
          onChange={(event) => setId(event.currentTarget.value)}
          error={fieldProblem(problem, 'id')}
          autoComplete="off"
          spellCheck={false}
        />
        <Choice
          label={allowlists.type}
          value={type}
          onChange={(value: Allowlist['type']) => setType(value)}
          options={(['FIXA', 'ONDA'] as const).map((value) => ({
            value,
            label: allowlists.typesLong[value],
            hint: texts.typeHint[value],
          }))}
        />
        {type === 'ONDA' ? (
          <>
            <NativeSelect
              label={texts.strategy}
              description={waves.strategies[draft.strategy].first}
              value={draft.strategy}
              data={STRATEGIES.map((value) => ({ value, label: waves.strategies[value].name }))}
              onChange={(event) => setDraft(firstDraft(event.currentTarget.value as Strategy))}
            />
            {FirstFields !== undefined && (
              <FirstFields
                draft={draft}
                problems={problems}
                zone={localZone()}
                disabled={false}
                onChange={(change) => setDraft({ ...draft, ...change })}
              />
            )}
          </>
        ) : (
          <Choice
            label={texts.precision}
            value={precision}
            onChange={(value: Allowlist['precision']) => setPrecision(value)}
            options={(['exact', 'trusted'] as const).map((value) => ({
              value,
              label: texts.precisions[value],
              hint: texts.precisionHint[value],
            }))}
          />
        )}
        <ProblemView problem={problem} fields={['name', 'id']} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {common.cancel}
          </Button>
          <Button type="submit" loading={running} disabled={isWrong}>
            {texts.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  value: T
  onChange(value: T): void
  options: readonly { value: T; label: string; hint: string }[]
}

function Choice<T extends string>({ label, value, onChange, options }: ChoiceProps<T>) {
  return (
    <Radio.Group label={label} value={value} onChange={(next) => onChange(next as T)}>
      <Stack gap={10} mt={6}>
        {options.map((option) => (
          <Radio key={option.value} value={option.value} label={option.label} description={option.hint} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
