import { Button } from '@mantine/core'
import { type DragEvent, useRef, useState } from 'react'
import { Icon } from '../../../parts/icons.js'
import { useFormat, useTexts } from '../../../texts/language.js'

export interface DropZoneProps {
  file: File | undefined
  disabled: boolean
  onFile(file: File): void
}

/** Takes a dropped file; for keyboard and touch, its button opens the file dialog. */
export function DropZone({ file, disabled, onFile }: DropZoneProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const dragged = (event: DragEvent): void => {
    event.preventDefault()
    setOver(!disabled && event.type !== 'dragleave')
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const [dropped] = event.dataTransfer.files
    if (dropped !== undefined && !disabled) onFile(dropped)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only dropping; the button inside does the same.
    <div
      className={`drop-zone${over ? ' drop-zone-over' : ''}`}
      onDragEnter={dragged}
      onDragOver={dragged}
      onDragLeave={dragged}
      onDrop={drop}
    >
      <Icon name="upload" size={22} />
      {file === undefined ? (
        <span>{texts.drop}</span>
      ) : (
        <strong className="drop-zone-file">{texts.chosen(file.name, format.bytes(file.size))}</strong>
      )}
      <Button size="compact-md" variant="default" disabled={disabled} onClick={() => input.current?.click()}>
        {file === undefined ? texts.choose : texts.another}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={texts.choose}
        accept=".csv,.ndjson,.jsonl,.txt,.gz"
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? []
          if (chosen !== undefined) onFile(chosen)
          // Choosing the same file again, after a correction, must fire the event again.
          event.currentTarget.value = ''
        }}
      />
    </div>
  )
}
