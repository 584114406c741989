import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useId } from 'react'
import { type ApiProblem, fieldProblem } from '../../api/client.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Faults, isNumberField, type LimitDraft } from './form-model.js'
import {
  ALGORITHMS,
  effectiveLimit,
  type Level,
  type Levels,
  LIMIT_FIELDS,
  type LimitField,
  levelsBelow,
  levelsFrom,
  MODES,
  type Said,
  saidOf,
} from './model.js'
import { shownValue, useLimitWords } from './words.js'

export interface LimitFieldsProps {
  draft: LimitDraft
  /** With the draft in place of its level. */
  levels: Levels
  level: Level
  faults: Faults
  /** Error of the server. */
  problem: ApiProblem | undefined
  onChange(draft: LimitDraft): void
  onRemove(): void
}

/** The fields of one limit. An empty field shows the inherited value and its level. */
export function LimitFields(props: LimitFieldsProps) {
  const { draft, levels, level, faults, problem, onChange, onRemove } = props
  const { limits: texts } = useTexts()
  const words = useLimitWords()
  const id = useId()
  const { key, name, fields } = draft
  const fault = (field: string): string | undefined => {
    const found = faults[`${key}.${field}`]
    if (found !== undefined) return texts.faults[found]
    return fieldProblem(
      problem,
      field === 'name' ? `limits.${name.trim()}` : `limits.${name.trim()}.${field}`,
    )
  }
  return (
    <section className="panel limit-card" aria-labelledby={id}>
      <div className="limit-card-head">
        <TextInput
          className="limit-card-name"
          label={texts.limitName}
          placeholder="perMinute"
          value={name}
          onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
          error={fault('name')}
          autoComplete="off"
          spellCheck={false}
        />
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          aria-label={texts.removeLimitLabel(name)}
          onClick={onRemove}
        >
          {texts.removeLimit}
        </Button>
      </div>
      <div className="limit-grid">
        {LIMIT_FIELDS.map((field) => (
          <FieldInput
            key={field}
            field={field}
            value={fields[field]}
            said={saidOf(levels, levelsBelow(level), name.trim(), field)}
            error={fault(field)}
            onChange={(value) => onChange({ ...draft, fields: { ...fields, [field]: value } })}
          />
        ))}
      </div>
      <p className="limit-means" id={id}>
        <strong>{name.trim() === '' ? texts.unnamed : name.trim()}</strong>{' '}
        {words(effectiveLimit(levels, levelsFrom(level), name.trim()))}
      </p>
    </section>
  )
}

interface FieldInputProps {
  field: LimitField
  value: string
  /** The value that applies when the field is empty. */
  said: Said | undefined
  error: string | undefined
  onChange(value: string): void
}

function FieldInput({ field, value, said, error, onChange }: FieldInputProps) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const inherited =
    said === undefined
      ? texts.nobodySays
      : texts.inheritedFrom(
          said.value === undefined ? texts.asCapacity : shownValue(said.value, format),
          texts.levels[said.from],
        )
  const shared = { label: texts.fields[field], value, error }
  if (isNumberField(field)) {
    return (
      <TextInput
        {...shared}
        placeholder={inherited}
        inputMode="numeric"
        onChange={(event) => onChange(event.currentTarget.value)}
        autoComplete="off"
      />
    )
  }
  const options: readonly string[] = field === 'algorithm' ? ALGORITHMS : MODES
  const names: Record<string, string> = field === 'algorithm' ? texts.algorithms : texts.modes
  return (
    <NativeSelect
      {...shared}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: '', label: inherited },
        ...options.map((option) => ({ value: option, label: names[option]! })),
      ]}
    />
  )
}
