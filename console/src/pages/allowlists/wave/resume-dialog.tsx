import { Button, Group, Modal, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { type Allowlist, api } from '../../../api/client.js'
import { useAction } from '../../../data/use-action.js'
import { announce } from '../../../parts/announcer.js'
import { useTexts } from '../../../texts/language.js'
import { etag, SaveProblem } from '../save-problem.js'
import { Difference } from './difference.js'
import type { Rule } from './rule.js'
import type { Words } from './use-words.js'

export interface ResumeDialogProps {
  list: Allowlist
  rule: Rule
  now: number
  words: Words
  opened: boolean
  onClose(): void
  onChanged(): void
}

/** Resumes a paused wave with the rule that it had. */
export function ResumeDialog({ list, rule, now, words, opened, onClose, onChanged }: ResumeDialogProps) {
  const { waves, common } = useTexts()
  const texts = waves.resume
  const { paused } = list
  const leave = (): void => {
    onClose()
    onChanged()
  }
  const { run, running, problem, reset } = useAction(async () => {
    await api.resumeAllowlist({ id: list.id, ifMatch: etag(list.version) })
    announce(texts.resumed)
    leave()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: resets whenever it opens.
  useEffect(reset, [opened])
  return (
    <Modal
      opened={opened && paused !== undefined}
      onClose={onClose}
      title={texts.title}
      size="xl"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {paused !== undefined && (
        <Stack gap="md">
          <p>{texts.text(words.moment(Date.parse(paused.at)))}</p>
          <Difference before={rule} after={paused.config} now={now} words={words} />
          {paused.config.ramp !== undefined && <p className="detail">{texts.passed}</p>}
          <SaveProblem problem={problem} onReload={leave} />
          <Group justify="flex-end" gap="xs" className="dialog-buttons">
            <Button variant="default" onClick={onClose}>
              {common.cancel}
            </Button>
            <Button loading={running} onClick={() => void run()}>
              {texts.confirm}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
