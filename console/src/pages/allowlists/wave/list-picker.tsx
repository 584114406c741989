import { MultiSelect, Select } from '@mantine/core'
import { useEffect, useState } from 'react'
import { api } from '../../../api/client.js'
import { useQuery } from '../../../data/use-query.js'
import { useTexts } from '../../../texts/language.js'

const FOUND = 20
const TYPING_MS = 200

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

/** The server searches, because there may be thousands of lists. */
const asFound = ({ options }: { options: unknown }): never => options as never

function useLists(typed: string, without: string, chosen: readonly string[]): Option[] {
  const [search, setSearch] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const { data } = useQuery(
    search,
    (signal) => api.listAllowlists({ search: search || undefined, sort: 'name', limit: FOUND }, { signal }),
    { keepPrevious: true },
  )
  const found = (data?.items ?? []).filter(({ id }) => id !== without)
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
  const options = useLists(typed, without, value === undefined ? [] : [value])
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
  const options = useLists(typed, without, values)
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
