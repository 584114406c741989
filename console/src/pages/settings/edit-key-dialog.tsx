import { Modal } from '@mantine/core'
import { useState } from 'react'
import { api, type ListKeysAnswer } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { bodyOf, type Grant, isEndless, KeyForm } from './key-form.js'

export type ApiKey = ListKeysAnswer['items'][number]

export interface EditKeyDialogProps {
  edited: ApiKey | undefined
  onClose(): void
  onSaved(): void
}

export function EditKeyDialog({ edited, onClose, onSaved }: EditKeyDialogProps) {
  const { common, settings: texts } = useTexts()
  return (
    <Modal
      opened={edited !== undefined}
      onClose={onClose}
      title={edited === undefined ? '' : texts.editTitle(edited.name)}
      closeButtonProps={{ 'aria-label': common.close }}
      size="lg"
    >
      {edited !== undefined && <EditForm edited={edited} onClose={onClose} onSaved={onSaved} />}
    </Modal>
  )
}

function EditForm({ edited, onClose, onSaved }: EditKeyDialogProps & { edited: ApiKey }) {
  const { settings: texts } = useTexts()
  const session = useSignedIn()
  const { name, expiresAt } = edited
  const [grant, setGrant] = useState<Grant>({ scopes: [...edited.scopes] })
  const action = useAction(async () => {
    const body = { ...bodyOf(grant), ...(isEndless(grant) && { expiresAt: null }) }
    await api.updateKey({ name, body })
    announce(texts.edited(name))
    onSaved()
    onClose()
  })
  return (
    <KeyForm {...{ grant, action, expiresAt }} onChange={setGrant} label={texts.save} onCancel={onClose}>
      {session.name === name && !grant.scopes.includes('admin') && (
        <div className="notice">{texts.editOwn}</div>
      )}
    </KeyForm>
  )
}
