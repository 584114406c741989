import { Button, Center, Group, Loader, Stack, Text, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { ColourMenu, LanguageMenu } from '../../parts/header-menus.js'
import { Brand } from '../../parts/icons.js'
import { signInAddress } from '../../session/provider.js'
import { type SignedOutBecause, unsavedFor } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { KeyForm } from './key-form.js'

/** With the account of a provider where the server has one, otherwise with a key. */
export function SignIn({ because }: { because: SignedOutBecause }) {
  const { common, signIn: texts } = useTexts()
  const { data, loading } = useQuery('sign-in', (signal) => api.getSignIn({}, { signal }))
  const [withKey, setWithKey] = useState(false)
  const unsavedOwner = unsavedFor()
  useEffect(() => {
    document.title = `${texts.title} · ${common.product}`
  }, [texts, common])
  const isOffered = data?.offered === true
  const link = useRef<HTMLAnchorElement>(null)
  // Browsers focus no link by themselves.
  useEffect(() => {
    if (isOffered) link.current?.focus()
  }, [isOffered])
  const reason = useReason(because)
  return (
    <main className="sign-in">
      <div className="sign-in-card">
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
            {!loading && (
              <Text c="dimmed" size="sm" mt={4}>
                {isOffered && !withKey ? texts.leadProvider : texts.lead}
              </Text>
            )}
          </div>
          {reason !== undefined && (
            <div className="notice" role="status">
              {reason}
            </div>
          )}
          {unsavedOwner !== undefined && <div className="notice">{texts.unsaved(unsavedOwner)}</div>}
          {loading && (
            <Center>
              <Loader size="sm" aria-label={common.loading} />
            </Center>
          )}
          {isOffered && (
            <Button component="a" href={signInAddress()} ref={link} fullWidth>
              {texts.withProvider(data.label ?? texts.company)}
            </Button>
          )}
          {isOffered && !withKey && (
            <Button variant="subtle" fullWidth onClick={() => setWithKey(true)}>
              {texts.useKey}
            </Button>
          )}
          {!loading && (withKey || !isOffered) && <KeyForm isSecond={isOffered} />}
        </Stack>
      </div>
    </main>
  )
}

function useReason(because: SignedOutBecause): string | undefined {
  const { signIn: texts } = useTexts()
  const reasons: Record<SignedOutBecause, string | undefined> = {
    start: undefined,
    chosen: texts.signedOut,
    elsewhere: texts.signedOutElsewhere,
    refused: texts.refused,
    idle: texts.idle,
    foreign: texts.foreign,
    ended: texts.ended,
    'not-ended': texts.notEnded,
    ...texts.failures,
  }
  return reasons[because]
}
