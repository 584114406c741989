import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { CallOptions } from '../../../src/client/operation.js'
import type { ApiProblem } from '../api/client.js'
import { useAction } from '../data/use-action.js'
import { useTexts } from '../texts/language.js'
import { ProblemView } from './problem.js'
import { useReason } from './reason.js'

export interface ConfirmDialogProps {
  opened: boolean
  onClose(): void
  title: string
  /** What will happen, and whether it can be undone. */
  children: ReactNode
  confirmLabel: string
  /** For the most dangerous actions: the user must type this word. */
  typed?: string | undefined
  /** Closes when it succeeds; a problem is shown in the dialog. */
  onConfirm(call: CallOptions): Promise<unknown>
  /** Without the field for a reason: nothing is changed on the server. */
  isLocal?: boolean
  /** Renders the error in other words. */
  problemView?(problem: ApiProblem | undefined): ReactNode
}

/** Asks for confirmation before a destructive action. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened, onClose, title, children, confirmLabel, typed, onConfirm } = props
  const { common } = useTexts()
  const [word, setWord] = useState('')
  const reason = useReason()
  const { run, running, problem, reset } = useAction(() => onConfirm(reason.call))
  // biome-ignore lint/correctness/useExhaustiveDependencies: resets whenever it opens.
  useEffect(() => {
    setWord('')
    reason.reset()
    reset()
  }, [opened])
  const confirm = async (): Promise<void> => {
    if (await run()) onClose()
  }
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': common.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <Stack gap="md">
          <div>{children}</div>
          {typed !== undefined && (
            <TextInput
              label={common.typeToConfirm(typed)}
              value={word}
              onChange={(event) => setWord(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
              spellCheck={false}
            />
          )}
          {props.isLocal !== true && reason.field}
          {props.problemView === undefined ? <ProblemView problem={problem} /> : props.problemView(problem)}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} data-autofocus={typed === undefined || undefined}>
              {common.cancel}
            </Button>
            <Button
              type="submit"
              color="red"
              loading={running}
              disabled={typed !== undefined && word !== typed}
            >
              {confirmLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
