import { Input, NativeSelect, TextInput } from '@mantine/core'
import { useMemo } from 'react'
import { useTexts } from '../../../texts/language.js'
import type { CommonDraft } from './strategies/form.js'
import { type Problems, type Typed, typedTime } from './typed.js'
import { useWords } from './use-words.js'
import { allZones } from './zoned.js'

export interface WindowFieldsProps {
  draft: CommonDraft
  problems: Problems
  zone: string
  disabled: boolean
  onZone(zone: string): void
  onChange(change: Partial<CommonDraft>): void
}

/** Start and end, in the time zone of the page. */
export function WindowFields({ draft, problems, zone, disabled, onZone, onChange }: WindowFieldsProps) {
  const { waves } = useTexts()
  const texts = waves.rule
  const zones = useMemo(allZones, [])
  return (
    <fieldset className="plain-fieldset">
      <Input.Label component="legend">{texts.window}</Input.Label>
      <Input.Description>{texts.windowHint}</Input.Description>
      <div className="window-fields">
        <Moment
          label={waves.fields.startTime}
          value={draft.start}
          zone={zone}
          error={problems.start}
          disabled={disabled}
          onChange={(start) => onChange({ start })}
        />
        <Moment
          label={waves.fields.endTime}
          value={draft.end}
          zone={zone}
          error={problems.end}
          disabled={disabled}
          onChange={(end) => onChange({ end })}
        />
        <NativeSelect
          label={texts.zone}
          description={texts.zoneHint}
          inputWrapperOrder={['label', 'input', 'description']}
          value={zone}
          data={zones}
          onChange={(event) => onZone(event.currentTarget.value)}
        />
      </div>
    </fieldset>
  )
}

interface MomentProps {
  label: string
  value: Typed
  zone: string
  error: string | undefined
  disabled: boolean
  onChange(value: Typed): void
}

/** A time as typed, and the same time in the browser's zone and in UTC. */
function Moment({ label, value, zone, error, disabled, onChange }: MomentProps) {
  const { waves } = useTexts()
  const texts = waves.rule
  const words = useWords(zone)
  const at = value.value
  return (
    <TextInput
      type="datetime-local"
      label={label}
      description={
        at === undefined ? (
          texts.noTime
        ) : (
          <>
            {texts.yours(words.local(at))}
            <br />
            {texts.utc(words.utc(at))}
          </>
        )
      }
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      value={value.text}
      onChange={(event) => onChange(typedTime(event.currentTarget.value, zone))}
      error={error}
      disabled={disabled}
    />
  )
}
