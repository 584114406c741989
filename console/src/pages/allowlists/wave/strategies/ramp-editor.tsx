import { Button, Input, NativeSelect, Stack, TextInput } from '@mantine/core'
import { serverNow } from '../../../../api/server-clock.js'
import { Icon } from '../../../../parts/icons.js'
import { State } from '../../../../parts/state.js'
import { useTexts } from '../../../../texts/language.js'
import { type Problems, typedTime } from '../typed.js'
import { useWords } from '../use-words.js'
import { type DraftStep, nextShare, type RampDraft, rampWarnings, stepOf } from './ramp.js'
import { ShareNumber } from './share-field.js'

const HOUR_MS = 3_600_000
const PRESETS = {
  days: { everyMs: 24 * HOUR_MS, percents: [1, 5, 25, 50, 100] },
  slow: { everyMs: 48 * HOUR_MS, percents: [1, 5, 10, 25, 50, 75, 100] },
  hours: { everyMs: HOUR_MS, percents: [1, 10, 50, 100] },
} as const
type Preset = keyof typeof PRESETS

export interface RampEditorProps {
  draft: RampDraft
  problems: Problems
  zone: string
  disabled: boolean
  onRamp(ramp: DraftStep[]): void
}

export function RampEditor({ draft, problems, zone, disabled, onRamp }: RampEditorProps) {
  const { ramp } = draft
  const { waves } = useTexts()
  const texts = waves.ramp
  const warnings = rampWarnings(draft, waves.warnings)
  const fill = (name: string): void => {
    if (!Object.hasOwn(PRESETS, name)) return
    const { everyMs, percents } = PRESETS[name as Preset]
    const begin = nextHour()
    onRamp(
      percents.map((percent, index) =>
        stepOf({ at: begin + index * everyMs, percentage: percent / 100 }, zone),
      ),
    )
  }
  const add = (): void => {
    const last = ramp.at(-1)
    const at = last?.at.value === undefined ? nextHour() : last.at.value + 24 * HOUR_MS
    onRamp([...ramp, stepOf({ at, percentage: nextShare(draft) }, zone)])
  }
  return (
    <fieldset className="plain-fieldset">
      <Input.Label component="legend">{waves.fields.ramp}</Input.Label>
      <Input.Description>{ramp.length === 0 ? texts.none : texts.hint}</Input.Description>
      <div className="ramp-steps">
        {ramp.map((step, index) => (
          <StepRow
            key={step.key}
            step={step}
            number={index + 1}
            problems={problems}
            warning={warnings[step.key]}
            zone={zone}
            disabled={disabled}
            onStep={(changed) => onRamp(ramp.map((other) => (other === step ? changed : other)))}
            onRemove={() => onRamp(ramp.filter((other) => other !== step))}
          />
        ))}
      </div>
      {!disabled && (
        <Stack gap="sm" align="flex-start" mt="sm">
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={add}>
            {texts.add}
          </Button>
          <NativeSelect
            label={texts.preset}
            description={texts.presetHint}
            inputWrapperOrder={['label', 'input', 'description']}
            value=""
            data={[
              { value: '', label: texts.presetChoose },
              ...(Object.keys(PRESETS) as Preset[]).map((value) => ({ value, label: texts.presets[value] })),
            ]}
            onChange={(event) => fill(event.currentTarget.value)}
          />
        </Stack>
      )}
    </fieldset>
  )
}

const nextHour = (): number => Math.ceil(serverNow() / HOUR_MS) * HOUR_MS

interface StepRowProps {
  step: DraftStep
  number: number
  problems: Problems
  warning: string | undefined
  zone: string
  disabled: boolean
  onStep(step: DraftStep): void
  onRemove(): void
}

function StepRow({ step, number, problems, warning, zone, disabled, onStep, onRemove }: StepRowProps) {
  const { waves } = useTexts()
  const texts = waves.ramp
  const words = useWords(zone)
  const name = words.number(number)
  return (
    <div className="ramp-step">
      <TextInput
        type="datetime-local"
        aria-label={texts.atOf(name)}
        value={step.at.text}
        onChange={(event) => onStep({ ...step, at: typedTime(event.currentTarget.value, zone) })}
        error={problems[`at ${step.key}`]}
        disabled={disabled}
      />
      <ShareNumber
        aria-label={texts.shareOf(name)}
        share={step.share}
        onShare={(share) => onStep({ ...step, share })}
        hideControls
        error={problems[`share ${step.key}`]}
        disabled={disabled}
      />
      {!disabled && (
        <Button variant="default" aria-label={texts.removeOf(name)} onClick={onRemove}>
          {texts.remove}
        </Button>
      )}
      {warning !== undefined && (
        <div className="ramp-warning" role="status">
          <State kind="warning">{warning}</State>
        </div>
      )}
    </div>
  )
}
