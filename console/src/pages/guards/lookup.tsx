import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
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

/**
 * Look-ups and filters are in the address behind `#`, so that they can be sent to a colleague. Browsers do not send that
 * part to servers: an e-mail or a tax number in it reaches no log.
 */
export function useHash(): [URLSearchParams, (change: Values, how?: 'push' | 'replace') => void] {
  const [hash, setHash] = useState(() => location.hash)
  useEffect(() => {
    const heard = (): void => setHash(location.hash)
    addEventListener('hashchange', heard)
    addEventListener('popstate', heard)
    return () => {
      removeEventListener('hashchange', heard)
      removeEventListener('popstate', heard)
    }
  }, [])
  const change = (next: Values, how: 'push' | 'replace' = 'push'): void => {
    const params = new URLSearchParams(location.hash.slice(1))
    for (const [name, value] of Object.entries(next)) {
      if (value === '') params.delete(name)
      else params.set(name, value)
    }
    const text = params.toString()
    if (text === location.hash.slice(1)) return
    const to = `${location.pathname}${location.search}${text === '' ? '' : `#${text}`}`
    if (how === 'push') history.pushState(history.state, '', to)
    else history.replaceState(history.state, '', to)
    // Other parts of the page hear of it.
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
  return [new URLSearchParams(hash.slice(1)), change]
}

/** What the address asks for under these names; undefined when it asks for nothing. */
export function useAsked(names: readonly string[]): [Asked | undefined, (values: Values) => void] {
  const [given, change] = useHash()
  const [round, setRound] = useState(0)
  const values = Object.fromEntries(names.map((name) => [name, given.get(name) ?? '']))
  const isAsked = names.some((name) => given.has(name))
  const asked = isAsked ? { values, id: `${round} ${JSON.stringify(values)}` } : undefined
  const ask = (next: Values): void => {
    change(next)
    setRound(round + 1)
  }
  return [asked, ask]
}

export interface LookupProps {
  fields: readonly Field[]
  problem: ApiProblem | undefined
  /** What the address asks for. */
  asked: Asked | undefined
  onAsk(values: Values): void
}

/** Identifies one record. */
export function Lookup({ fields, problem, asked, onAsk }: LookupProps) {
  const { guards: texts } = useTexts()
  const [values, setValues] = useState<Values>(() => valuesOf(fields, asked))
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the address, not every rendering.
  useEffect(() => {
    if (asked !== undefined) setValues(valuesOf(fields, asked))
  }, [asked?.id])
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
            value: values[name]!,
            error: missing.includes(name) ? texts.missing : fieldProblem(problem, name),
          }
          const set = (value: string): void => setValues({ ...values, [name]: value })
          return options === undefined ? (
            <TextInput
              key={name}
              {...shared}
              placeholder={hint}
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

const valuesOf = (fields: readonly Field[], asked: Asked | undefined): Values =>
  Object.fromEntries(
    fields.map(({ name, options }) => [name, asked?.values[name] || (options?.[0]?.value ?? '')]),
  )

/** The result, or that there is none; announced to screen readers when it arrives. */
export function Found<T>({
  query,
  nothing,
  fields,
  children,
}: {
  query: Query<T>
  /** Fields of the form above, which show their errors themselves. */
  fields: readonly Field[]
  /** Shown when the server responds that the record does not exist. */
  nothing: string
  children(data: T): ReactNode
}) {
  const isNothing = query.problem?.status === 404
  return (
    <>
      {query.loading && <Skeleton height={120} radius="md" />}
      {!isNothing && (
        <ProblemView problem={query.problem} retry={query.reload} fields={fields.map(({ name }) => name)} />
      )}
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
