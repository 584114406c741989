import { MultiSelect, Select } from '@mantine/core'
import { useState } from 'react'
import { asFound, useLists } from '../../../data/use-lists.js'
import { useTexts } from '../../../texts/language.js'

interface Option {
  value: string
  label: string
}

interface PickerProps {
  label: string
  hint: string
  /** A list cannot refer to itself. */
  without: string
  disabled: boolean
}

function useOptions(typed: string, without: string, chosen: readonly string[]): Option[] {
  const found = useLists(typed).filter(({ id }) => id !== without)
  const known = new Set(found.map(({ id }) => id))
  return [
    ...found.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} (${id})` })),
    ...chosen.filter((id) => !known.has(id)).map((id) => ({ value: id, label: id })),
  ]
}

export interface ListPickerProps extends PickerProps {
  value: string | undefined
  error: string | undefined
  onChange(value: string | undefined): void
}

export function ListPicker({ label, hint, value, without, error, disabled, onChange }: ListPickerProps) {
  const { waves } = useTexts()
  const [typed, setTyped] = useState('')
  const options = useOptions(typed, without, value === undefined ? [] : [value])
  return (
    <Select
      label={label}
      description={hint}
      value={value ?? null}
      data={options}
      onChange={(next) => onChange(next ?? undefined)}
      searchable
      onSearchChange={(text) => setTyped(options.some((option) => option.label === text) ? '' : text)}
      filter={asFound}
      clearable
      clearButtonProps={{ 'aria-label': `${waves.rule.clear}: ${label}` }}
      nothingFoundMessage={waves.rule.nothingFound}
      error={error}
      disabled={disabled}
    />
  )
}

export interface ListsPickerProps extends PickerProps {
  values: string[]
  onChange(values: string[]): void
}

export function ListsPicker({ label, hint, values, without, disabled, onChange }: ListsPickerProps) {
  const { waves } = useTexts()
  const [typed, setTyped] = useState('')
  const options = useOptions(typed, without, values)
  return (
    <MultiSelect
      label={label}
      description={hint}
      value={values}
      data={options}
      onChange={onChange}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={asFound}
      hidePickedOptions
      nothingFoundMessage={waves.rule.nothingFound}
      disabled={disabled}
    />
  )
}
