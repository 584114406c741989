import type { CallOptions } from '../../../../../src/client/operation.js'
import { type Allowlist, api } from '../../../api/client.js'
import { announce } from '../../../parts/announcer.js'
import { ConfirmDialog } from '../../../parts/confirm-dialog.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import type { Rule } from './rule.js'
import { FORMS } from './strategies/index.js'

export interface PauseDialogProps {
  list: Allowlist
  rule: Rule
  opened: boolean
  onClose(): void
  onChanged(): void
}

/**
 * Pauses any version of the list, even if another user saved meanwhile: in an emergency no review is needed first.
 */
export function PauseDialog({ list, rule, opened, onClose, onChanged }: PauseDialogProps) {
  const { waves } = useTexts()
  const texts = waves.pause
  const format = useFormat()
  const pause = async (call: CallOptions): Promise<void> => {
    await api.pauseAllowlist({ id: list.id }, call)
    announce(texts.paused)
    onChanged()
  }
  const effects = FORMS[rule.strategy].pauseTexts?.(rule, texts, format.number) ?? [texts.textWindow]
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={texts.title}
      confirmLabel={texts.confirm}
      onConfirm={pause}
    >
      {effects.map((effect) => (
        <p key={effect}>{effect}</p>
      ))}
      <p>{texts.undo}</p>
    </ConfirmDialog>
  )
}
