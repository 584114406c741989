import { Button, Group, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { fieldProblem } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { ColourMenu, LanguageMenu } from '../../parts/header-menus.js'
import { Brand } from '../../parts/icons.js'
import { ProblemView } from '../../parts/problem.js'
import { signIn } from '../../session/sign-in.js'
import { type SignedOutBecause, unsavedFor } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'

export function SignIn({ because }: { because: SignedOutBecause }) {
  const { common, signIn: texts } = useTexts()
  const [key, setKey] = useState('')
  const [missing, setMissing] = useState(false)
  const { run, running, problem } = useAction(async (given: string) => {
    if (await signIn(given)) announce(texts.dropped)
  })
  const unsavedOwner = unsavedFor()
  useEffect(() => {
    document.title = `${texts.title} · ${common.product}`
  }, [texts, common])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const trimmed = key.trim()
    setMissing(trimmed === '')
    if (trimmed !== '') void run(trimmed)
  }
  // A key that cannot be sent in a header is treated like a refused one.
  const isWrong = problem?.status === 401 || fieldProblem(problem, 'key') !== undefined
  const wrong = isWrong ? texts.wrongKey : undefined
  const reasons = {
    start: undefined,
    chosen: texts.signedOut,
    elsewhere: texts.signedOutElsewhere,
    refused: texts.refused,
    idle: texts.idle,
    foreign: texts.foreign,
  }
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <form onSubmit={submit} noValidate>
          <Stack gap="md">
            <Group justify="space-between" wrap="nowrap">
              <span className="brand">
                <Brand />
                {common.product}
              </span>
              <Group gap={2} wrap="nowrap">
                <LanguageMenu />
                <ColourMenu />
              </Group>
            </Group>
            <div>
              <Title order={1} size="h3">
                {texts.title}
              </Title>
              <Text c="dimmed" size="sm" mt={4}>
                {texts.lead}
              </Text>
            </div>
            {reasons[because] !== undefined && (
              <div className="notice" role="status">
                {reasons[because]}
              </div>
            )}
            {unsavedOwner !== undefined && <div className="notice">{texts.unsaved(unsavedOwner)}</div>}
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
            <Button type="submit" loading={running} fullWidth>
              {texts.submit}
            </Button>
            <Text c="dimmed" size="xs">
              {texts.keyHint}
            </Text>
          </Stack>
        </form>
      </div>
    </main>
  )
}
