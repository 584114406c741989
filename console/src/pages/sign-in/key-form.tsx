import { Button, PasswordInput, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { ProblemView } from '../../parts/problem.js'
import { signIn } from '../../session/sign-in.js'
import { useTexts } from '../../texts/language.js'

/** `isSecond`: there is another way to sign in, which stands out. */
export function KeyForm({ isSecond }: { isSecond: boolean }) {
  const { signIn: texts } = useTexts()
  const [key, setKey] = useState('')
  const [missing, setMissing] = useState(false)
  const { run, running, problem } = useAction(async (given: string) => {
    if (await signIn(given)) announce(texts.dropped)
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const trimmed = key.trim()
    setMissing(trimmed === '')
    if (trimmed !== '') void run(trimmed)
  }
  // A key that cannot be sent in a header is treated like a refused one.
  const isWrong = problem?.status === 401 || fieldProblem(problem, 'key') !== undefined
  const wrong = isWrong ? texts.wrongKey : undefined
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <PasswordInput
          label={texts.key}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={missing ? texts.missingKey : wrong}
          autoComplete="off"
          spellCheck={false}
          autoFocus
        />
        {wrong === undefined && <ProblemView problem={problem} />}
        <Button type="submit" variant={isSecond ? 'default' : 'filled'} loading={running} fullWidth>
          {texts.submit}
        </Button>
        <Text c="dimmed" size="xs">
          {texts.keyHint}
        </Text>
      </Stack>
    </form>
  )
}
