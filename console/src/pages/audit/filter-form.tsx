import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Icon } from '../../parts/icons.js'
import { Tag } from '../../parts/state.js'
import { useTexts } from '../../texts/language.js'

/** `target` and `actor` come from links of other pages; the form itself has a search. */
export const NAMES = ['search', 'target', 'actor', 'action', 'from', 'to'] as const
export type Filter = Record<(typeof NAMES)[number], string>

/**
 * Times are typed in the user's zone; the API expects UTC. Text that is not a time is passed on, and the server
 * refuses it.
 */
export function isoOf(local: string): string | undefined {
  if (local === '') return undefined
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}

export function FilterForm({ filter, onApply }: { filter: Filter; onApply(filter: Filter): void }) {
  const { audit: texts } = useTexts()
  const [typed, setTyped] = useState(filter)
  const field = (name: keyof Filter) => ({
    value: typed[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
    size: 'sm' as const,
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onApply({ ...typed, search: typed.search.trim() })
  }
  const actions = Object.entries(texts.actions).map(([value, label]) => ({ value, label }))
  return (
    <form className="filters" onSubmit={submit} noValidate>
      <TextInput
        type="search"
        label={texts.search}
        placeholder={texts.searchHint}
        maxLength={256}
        spellCheck={false}
        {...field('search')}
      />
      <NativeSelect
        label={texts.actionFilter}
        data={[{ value: '', label: texts.anyAction }, ...actions]}
        {...field('action')}
      />
      <TextInput type="datetime-local" label={texts.from} {...field('from')} />
      <TextInput type="datetime-local" label={texts.to} {...field('to')} />
      <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
        {texts.apply}
      </Button>
      {(['target', 'actor'] as const)
        .filter((name) => filter[name] !== '')
        .map((name) => (
          <div key={name} className="tags filter-only">
            {texts.only} <Tag>{filter[name]}</Tag>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onApply({ ...filter, [name]: '' })}
              aria-label={`${texts.lift}: ${filter[name]}`}
            >
              {texts.lift}
            </Button>
          </div>
        ))}
    </form>
  )
}
