import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../texts/language.js'
import { announce } from './announcer.js'
import { Icon } from './icons.js'

/** `label` names what is copied, when "Copy" alone is not clear. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { common } = useTexts()
  const [done, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 2_000)
      announce(common.copied)
    } catch {
      // Without a secure context there is no clipboard.
      announce(common.copyFailed)
    }
  }
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<Icon name={done ? 'check' : 'copy'} size={14} />}
      onClick={() => void copy()}
      aria-label={label === undefined ? undefined : `${common.copy}: ${label}`}
    >
      {done ? common.copied : common.copy}
    </Button>
  )
}
