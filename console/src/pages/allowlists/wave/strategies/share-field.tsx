import { Input, NumberInput, type NumberInputProps, Slider } from '@mantine/core'
import { useId } from 'react'
import { useFormat, useTexts } from '../../../../texts/language.js'
import { shareOf, type Typed, typedShare } from '../typed.js'

const MARKS = [0, 25, 50, 75, 100].map((value) => ({ value, label: `${value}%` }))

export interface ShareFieldProps {
  label: string
  share: Typed
  error: string | undefined
  disabled: boolean
  onShare(share: Typed): void
}

/** The slider sets it roughly, the number beside it exactly. */
export function ShareField({ label, share, error, disabled, onShare }: ShareFieldProps) {
  const { waves } = useTexts()
  const texts = waves.rule
  const format = useFormat()
  const id = useId()
  const percent = (share.value ?? 0) * 100
  return (
    <Input.Wrapper
      label={label}
      description={texts.shareHint}
      error={error}
      labelElement="div"
      labelProps={{ id }}
    >
      <div className="share-field">
        <Slider
          className="share-slider"
          value={percent}
          onChange={(value) => onShare(shareOf(Math.round(value) / 100))}
          min={0}
          max={100}
          step={1}
          marks={MARKS}
          label={(value) => format.percent(value / 100, 2)}
          disabled={disabled}
          thumbLabel={label}
          thumbProps={{ 'aria-valuetext': format.percent(percent / 100, 4) }}
        />
        <ShareNumber
          aria-label={`${label}: ${texts.shareNumber}`}
          share={share}
          onShare={onShare}
          disabled={disabled}
          error={error !== undefined}
        />
      </div>
    </Input.Wrapper>
  )
}

export interface ShareNumberProps extends Omit<NumberInputProps, 'value' | 'onChange'> {
  share: Typed
  onShare(share: Typed): void
}

/** An exact share in percent, with the decimal mark of the language; a point works too. */
export function ShareNumber({ share, onShare, ...more }: ShareNumberProps) {
  const format = useFormat()
  return (
    <NumberInput
      {...more}
      value={share.text}
      onChange={(value) => onShare(typedShare(String(value)))}
      min={0}
      max={100}
      decimalScale={6}
      decimalSeparator={format.decimalMark}
      allowedDecimalSeparators={['.', ',']}
      clampBehavior="none"
      suffix=" %"
    />
  )
}
