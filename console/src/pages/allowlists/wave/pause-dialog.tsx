import { type Allowlist, api } from '../../../api/client.js'
import { announce } from '../../../parts/announcer.js'
import { ConfirmDialog } from '../../../parts/confirm-dialog.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { etag, SaveProblem } from '../save-problem.js'
import { pausedRule, type Rule } from './rule.js'

/** An entry of the audit holds about this much of a rule, before and after. */
const KEPT_CHARACTERS = 14_000

export interface PauseDialogProps {
  list: Allowlist
  rule: Rule
  opened: boolean
  onClose(): void
  onChanged(): void
}

export function PauseDialog({ list, rule, opened, onClose, onChanged }: PauseDialogProps) {
  const { waves } = useTexts()
  const texts = waves.pause
  const format = useFormat()
  const pause = async (): Promise<void> => {
    const config = pausedRule(rule, Date.now())
    await api.updateAllowlist({ id: list.id, ifMatch: etag(list.version), body: { config } })
    announce(texts.paused)
    onChanged()
  }
  const reload = (): void => {
    onClose()
    onChanged()
  }
  const steps = rule.ramp?.length ?? 0
  const isLong = JSON.stringify(rule).length > KEPT_CHARACTERS
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={texts.title}
      confirmLabel={texts.confirm}
      onConfirm={pause}
      problemView={(problem) => <SaveProblem problem={problem} onReload={reload} />}
    >
      <p>{rule.strategy === 'PERCENTAGE' ? texts.text : texts.textWindow}</p>
      {steps > 0 && <p>{texts.textRamp(format.number(steps))}</p>}
      <p>{isLong ? texts.undoLong : texts.undo}</p>
    </ConfirmDialog>
  )
}
