import { Button, Group, Modal, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { type Allowlist, api } from '../../../api/client.js'
import { useAction } from '../../../data/use-action.js'
import { announce } from '../../../parts/announcer.js'
import { useReason } from '../../../parts/reason.js'
import { useTexts } from '../../../texts/language.js'
import { etag, SaveProblem } from '../save-problem.js'
import { Difference } from './difference.js'
import type { Rule } from './rule.js'
import { useWords } from './use-words.js'

export interface Reviewed {
  list: Allowlist
  before: Rule
  after: Rule
}

export interface ReviewDialogProps extends Reviewed {
  /** Settings that may be mistakes. */
  warnings: readonly string[]
  now: number
  zone: string
  opened: boolean
  onClose(): void
  onChanged(): void
}

/** Shows the changes, and saves them unless another user saved first. */
export function ReviewDialog({ list, before, after, warnings, now, zone, opened, ...on }: ReviewDialogProps) {
  const { waves, common } = useTexts()
  const texts = waves.difference
  const words = useWords(zone)
  const leave = (): void => {
    on.onClose()
    on.onChanged()
  }
  const reason = useReason()
  const { run, running, problem, reset } = useAction(async () => {
    const change = { id: list.id, ifMatch: etag(list.version), body: { config: after } }
    await api.updateAllowlist(change, reason.call)
    announce(texts.saved)
    leave()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: resets whenever it opens.
  useEffect(() => {
    reset()
    reason.reset()
  }, [opened])
  return (
    <Modal
      opened={opened}
      onClose={on.onClose}
      title={texts.title}
      size="xl"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <Stack gap="md">
        <div>{texts.lead}</div>
        <Difference before={before} after={after} now={now} words={words} />
        {warnings.map((warning) => (
          <div key={warning} className="notice">
            {warning}
          </div>
        ))}
        {reason.field}
        <SaveProblem problem={problem} onReload={leave} />
        <Group justify="flex-end" gap="xs" className="dialog-buttons">
          <Button variant="default" onClick={on.onClose}>
            {common.cancel}
          </Button>
          <Button loading={running} onClick={() => void run()}>
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
