import { Button, Group, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useFormat, useTexts } from '../../../texts/language.js'

/** Typed or pasted rows, which then go the way of a file: the same preview, counts and result. */
export function Paste({ onFile }: { onFile(file: File): void }) {
  const { allowlists, common } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  const [text, setText] = useState<string>()
  if (text === undefined) {
    return (
      <Group>
        <Button size="compact-sm" variant="default" onClick={() => setText('')}>
          {texts.paste}
        </Button>
      </Group>
    )
  }
  const rows = text.split(/\r?\n/).filter((row) => row.trim() !== '')
  const name = rows.some((row) => /[,;\t]/.test(row)) ? 'pasted.csv' : 'pasted.txt'
  return (
    <Stack gap="xs">
      <Textarea
        label={texts.pasted}
        description={texts.pastedHint}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        rows={6}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        autoFocus
      />
      <Group gap="xs">
        <Button
          size="compact-md"
          disabled={rows.length === 0}
          onClick={() => onFile(new File([`${rows.join('\n')}\n`], name, { type: 'text/plain' }))}
        >
          {texts.usePasted}
        </Button>
        <Button size="compact-md" variant="default" onClick={() => setText(undefined)}>
          {common.cancel}
        </Button>
        <span className="detail" role="status">
          {texts.rows(format.number(rows.length))}
        </span>
      </Group>
    </Stack>
  )
}
