import { Textarea } from '@mantine/core'
import { MAX_WAVE_CUSTOMERS } from '../../../../../../src/guards/allowlist/wave/explicit-list.js'
import { useFormat, useTexts } from '../../../../texts/language.js'
import type { Comparison, FieldsProps, Row, StrategyForm } from './form.js'

interface Draft {
  customers: string
}

const MANY = 10

export const explicitList: StrategyForm<Draft> = {
  first: () => ({ customerIds: [] }),
  empty: { customerIds: [] },
  draftOf: ({ customerIds = [] }) => ({ customers: customerIds.join('\n') }),
  ruleOf: ({ customers }) => ({ customerIds: customersOf(customers) }),
  problemsOf: ({ customers }, texts) =>
    customersOf(customers).length > MAX_WAVE_CUSTOMERS ? { customers: texts.tooMany } : {},
  Fields,
  rows,
  named: ({ customerIds = [] }) => customerIds.length,
}

function customersOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))]
}

function Fields({ draft, problems, disabled, onChange }: FieldsProps<Draft>) {
  const { waves } = useTexts()
  const format = useFormat()
  const count = customersOf(draft.customers).length
  return (
    <Textarea
      label={`${waves.fields.customerIds} (${format.number(count)})`}
      description={waves.rule.customersHint}
      value={draft.customers}
      onChange={(event) => onChange({ customers: event.currentTarget.value })}
      error={problems.customers}
      disabled={disabled}
      rows={6}
      spellCheck={false}
      classNames={{ input: 'mono' }}
    />
  )
}

/** Thousands of names cannot be compared by eye, so only added and removed ones are shown. */
function rows({ before, after, words, texts }: Comparison): Row[] {
  const [was, is] = [before.customerIds ?? [], after.customerIds ?? []]
  const [had, has] = [new Set(was), new Set(is)]
  const come = is.filter((id) => !had.has(id))
  const go = was.filter((id) => !has.has(id))
  if (come.length + go.length === 0) return []
  const { added, gone } = texts.difference
  const count = (ids: string[]): string => texts.rule.customersCount(words.number(ids.length))
  const some = (title: (count: string) => string, sign: string, ids: string[]): string[] => [
    ...(ids.length > 0 ? [title(words.number(ids.length))] : []),
    ...ids.slice(0, MANY).map((id) => `${sign} ${id}`),
    ...(ids.length > MANY ? ['…'] : []),
  ]
  return [
    {
      name: texts.fields.customerIds,
      before: [count(was)],
      after: [count(is), ...some(added, '+', come), ...some(gone, '−', go)],
    },
  ]
}
