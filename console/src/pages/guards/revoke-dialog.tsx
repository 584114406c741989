import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { CallOptions } from '../../../../src/client/operation.js'
import { api } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useTexts } from '../../texts/language.js'

export interface Revocable {
  kind: 'token' | 'subject'
  id: string
}

export interface RevokeDialogProps {
  target: Revocable
  opened: boolean
  onClose(): void
  onRevoked(): void
}

const DAY_MS = 86_400_000

/** A revocation ends when the tokens would have expired anyway, so the user has to state when that is. */
export function RevokeDialog({ target, opened, onClose, onRevoked }: RevokeDialogProps) {
  const { guards } = useTexts()
  const texts = guards.tokens
  const [until, setUntil] = useState(() => localInput(serverNow() + DAY_MS))
  const revoke = async (call: CallOptions): Promise<void> => {
    const expiresAt = new Date(until).toISOString()
    if (target.kind === 'token') await api.revokeToken({ jti: target.id, body: { expiresAt } }, call)
    else {
      const notBefore = new Date(serverNow()).toISOString()
      await api.revokeSubject({ subject: target.id, body: { notBefore, expiresAt } }, call)
    }
    announce(texts.revoked)
    onRevoked()
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={texts.revokeTitle}
      confirmLabel={texts.revoke}
      onConfirm={revoke}
    >
      <p>{target.kind === 'token' ? texts.revokeToken(target.id) : texts.revokeSubject(target.id)}</p>
      <TextInput
        type="datetime-local"
        label={texts.until}
        description={texts.untilHint}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </ConfirmDialog>
  )
}

/** The format of `datetime-local` inputs: in the user's zone, to the minute. */
function localInput(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000
  return new Date(at - offsetMs).toISOString().slice(0, 16)
}
