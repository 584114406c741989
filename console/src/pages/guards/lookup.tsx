import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type ApiProblem, fieldProblem } from '../../api/client.js'
import type { Query } from '../../data/use-query.js'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'

export interface Field {
  name: string
  label: string
  hint?: string
  /** A choice instead of a text field; the first option is preselected. */
  options?: readonly { value: string; label: string }[]
  /** The field may be empty. */
  optional?: boolean
}

export type Values = Record<string, string>

/** The submitted values, and a counter: submitting the same values again loads again. */
export interface Asked {
  values: Values
  id: string
}

export function useAsked(): [Asked | undefined, (values: Values) => void] {
  const [asked, setAsked] = useState<Asked & { round: number }>()
  const ask = (values: Values): void => {
    const round = (asked?.round ?? 0) + 1
    setAsked({ values, round, id: `${round} ${JSON.stringify(values)}` })
  }
  return [asked, ask]
}

export interface LookupProps {
  fields: readonly Field[]
  problem: ApiProblem | undefined
  onAsk(values: Values): void
}

/** Identifies one record. Its values are not put in the URL: they may contain an e-mail address. */
export function Lookup({ fields, problem, onAsk }: LookupProps) {
  const { guards: texts } = useTexts()
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, options }) => [name, options?.[0]?.value ?? ''])),
  )
  const [missing, setMissing] = useState<readonly string[]>([])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const trimmed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]))
    const empty = fields.filter(({ name, optional }) => !optional && trimmed[name] === '')
    setMissing(empty.map(({ name }) => name))
    if (empty.length === 0) onAsk(trimmed)
  }
  return (
    <Panel>
      <form className="lookup" onSubmit={submit} noValidate>
        {fields.map(({ name, label, hint, options }) => {
          const shared = {
            label,
            description: hint,
            value: values[name]!,
            error: missing.includes(name) ? texts.missing : fieldProblem(problem, name),
          }
          const set = (value: string): void => setValues({ ...values, [name]: value })
          return options === undefined ? (
            <TextInput
              key={name}
              {...shared}
              onChange={(event) => set(event.currentTarget.value)}
              autoComplete="off"
              spellCheck={false}
            />
          ) : (
            <NativeSelect
              key={name}
              {...shared}
              data={[...options]}
              onChange={(event) => set(event.currentTarget.value)}
            />
          )
        })}
        <Button type="submit" leftSection={<Icon name="search" size={16} />}>
          {texts.look}
        </Button>
      </form>
    </Panel>
  )
}

/** The result, or that there is none; announced to screen readers when it arrives. */
export function Found<T>({
  query,
  nothing,
  children,
}: {
  query: Query<T>
  /** Shown when the server responds that the record does not exist. */
  nothing: string
  children(data: T): ReactNode
}) {
  const isNothing = query.problem?.status === 404
  return (
    <>
      {query.loading && <Skeleton height={120} radius="md" />}
      {!isNothing && <ProblemView problem={query.problem} retry={query.reload} />}
      <div role="status" aria-live="polite">
        {isNothing && <div className="notice">{nothing}</div>}
        {query.data !== undefined && children(query.data)}
      </div>
    </>
  )
}

/** Facts with their names. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode] | undefined)[] }) {
  return (
    <dl className="record-facts">
      {items.map(
        (item) =>
          item !== undefined && (
            <div key={item[0]}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
