import { Button, Group, Modal, Radio, Stack } from '@mantine/core'
import { useEffect, useState } from 'react'
import { type Allowlist, api } from '../../../api/client.js'
import { useAction } from '../../../data/use-action.js'
import { announce } from '../../../parts/announcer.js'
import { useReason } from '../../../parts/reason.js'
import { useFormat, useTexts } from '../../../texts/language.js'
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
  const format = useFormat()
  const leave = (): void => {
    onClose()
    onChanged()
  }
  const reason = useReason()
  const [isShifted, setShifted] = useState(false)
  const pausedAt = paused === undefined ? now : Date.parse(paused.at)
  const shifted = paused && shiftedRule(paused.config as Rule, pausedAt, now)
  const { run, running, problem, reset } = useAction(async () => {
    const body = isShifted ? ({ body: { shift: true } } as const) : {}
    await api.resumeAllowlist({ id: list.id, ifMatch: etag(list.version), ...body }, reason.call)
    announce(texts.resumed)
    leave()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: resets whenever it opens.
  useEffect(() => {
    reset()
    reason.reset()
    setShifted(false)
  }, [opened])
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
          {shifted !== undefined && (
            <Radio.Group
              label={texts.ramp}
              value={isShifted ? 'shift' : 'keep'}
              onChange={(value) => setShifted(value === 'shift')}
            >
              <div className="choice-pair">
                <Radio value="keep" label={texts.keep} description={texts.passed} />
                <Radio
                  value="shift"
                  label={texts.shift(format.uptime((now - pausedAt) / 1000))}
                  description={texts.shiftHint}
                />
              </div>
            </Radio.Group>
          )}
          <Difference
            before={rule}
            after={isShifted ? (shifted ?? paused.config) : paused.config}
            now={now}
            words={words}
          />
          {reason.field}
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

/** Steps that lay after the pause, later by the time paused; undefined when there are none. */
function shiftedRule(rule: Rule, pausedAt: number, now: number): Rule | undefined {
  const { ramp } = rule
  if (ramp?.some(({ at }) => at > pausedAt) !== true) return undefined
  const moved = ramp.map((step) => (step.at > pausedAt ? { ...step, at: step.at + (now - pausedAt) } : step))
  return { ...rule, ramp: moved }
}
