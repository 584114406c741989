import { Autocomplete, Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { api } from '../../api/client.js'
import { useLists } from '../../data/use-lists.js'
import { useQuery } from '../../data/use-query.js'
import { Icon } from '../../parts/icons.js'
import { Tag } from '../../parts/state.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { DAYS, type Day, dayOf, rangeOf, toIso, toLocal } from './days.js'

/** `target` comes from links of other pages. Times are ISO 8601, so that an address means the same in every zone. */
export const NAMES = ['search', 'target', 'actor', 'action', 'from', 'to'] as const
export type Filter = Record<(typeof NAMES)[number], string>

export interface FilterFormProps {
  filter: Filter
  /** Who made the changes that are shown. */
  actors: readonly string[]
  onApply(filter: Filter): void
}

export function FilterForm({ filter, actors, onApply }: FilterFormProps) {
  const { audit: texts } = useTexts()
  const [typed, setTyped] = useState(filter)
  const [isOther, setOther] = useState(dayOf(filter.from, filter.to) === 'other')
  const id = JSON.stringify(filter)
  // Without a new form, which would take the focus from the field that was changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the address; `id` compares it.
  useEffect(() => {
    setTyped(filter)
    setOther(dayOf(filter.from, filter.to) === 'other')
  }, [id])
  const lists = useLists(typed.search)
  const { reachesAll } = useSignedIn()
  const keys = useQuery('keys', (signal) => api.listKeys({}, { signal }), { enabled: reachesAll })
  const people = [...new Set([...(keys.data?.items ?? []).map(({ name }) => name), ...actors])].toSorted()
  const change = (next: Partial<Filter>): void => setTyped({ ...typed, ...next })
  /** Choices apply at once; typed text when it is sent. */
  const choose = (next: Partial<Filter>): void => onApply({ ...typed, ...next })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onApply({ ...typed, search: typed.search.trim(), actor: typed.actor.trim() })
  }
  const chooseDay = (value: string): void => {
    setOther(value === 'other')
    if (value !== 'other') choose(value === '' ? { from: '', to: '' } : rangeOf(value as Day))
  }
  const actions = Object.entries(texts.actions).map(([value, label]) => ({ value, label }))
  return (
    <form className="filters" onSubmit={submit} noValidate>
      <Autocomplete
        label={texts.person}
        placeholder={texts.anybody}
        data={people}
        value={typed.actor}
        onChange={(actor) => change({ actor })}
        onOptionSubmit={(actor) => choose({ actor })}
        limit={50}
        spellCheck={false}
      />
      <Autocomplete
        label={texts.thing}
        placeholder={texts.thingHint}
        data={lists.map(({ id }) => id)}
        renderOption={({ option: { value } }) => (
          <span className="list-option">
            {lists.find(({ id }) => id === value)?.name ?? value} <span className="detail mono">{value}</span>
          </span>
        )}
        filter={({ options }) => options}
        value={typed.search}
        onChange={(search) => change({ search })}
        onOptionSubmit={(search) => choose({ search })}
        maxLength={256}
        spellCheck={false}
      />
      <NativeSelect
        label={texts.actionFilter}
        data={[{ value: '', label: texts.anyAction }, ...actions]}
        value={typed.action}
        onChange={(event) => choose({ action: event.currentTarget.value })}
      />
      <NativeSelect
        label={texts.day}
        data={[
          { value: '', label: texts.anyDay },
          ...DAYS.map((value) => ({ value, label: texts.days[value] })),
          { value: 'other', label: texts.otherDays },
        ]}
        value={isOther ? 'other' : dayOf(filter.from, filter.to)}
        onChange={(event) => chooseDay(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
        {texts.apply}
      </Button>
      {isOther &&
        (['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={texts[name]}
            value={toLocal(typed[name])}
            onChange={(event) => change({ [name]: toIso(event.currentTarget.value) })}
          />
        ))}
      {filter.target !== '' && (
        <div className="tags filter-only">
          {texts.only} <Tag>{filter.target}</Tag>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onApply({ ...filter, target: '' })}
            aria-label={`${texts.lift}: ${filter.target}`}
          >
            {texts.lift}
          </Button>
        </div>
      )}
    </form>
  )
}
