import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, type ExplainCheckAnswer, fieldProblem } from '../../../api/client.js'
import { useQuery } from '../../../data/use-query.js'
import { Icon } from '../../../parts/icons.js'
import { Panel } from '../../../parts/panel.js'
import { ProblemView } from '../../../parts/problem.js'
import { State } from '../../../parts/state.js'
import { useTexts } from '../../../texts/language.js'
import { type Rule, reachedAt, shareNow } from './rule.js'
import { FORMS } from './strategies/index.js'
import { useWords } from './use-words.js'

export interface WhoPanelProps {
  id: string
  rule: Rule
  /** The rule with unsaved changes. */
  next: Rule | undefined
  now: number
  zone: string
}

/** One customer's place in the wave. */
export function WhoPanel(props: WhoPanelProps) {
  const { id } = props
  const { waves } = useTexts()
  const texts = waves.who
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<{ customer: string; round: number }>()
  const [missing, setMissing] = useState(false)
  const customerId = asked?.customer ?? ''
  const query = useQuery(
    `${customerId} ${asked?.round}`,
    (signal) => api.explainCheck({ customerId, allowlists: [id] }, { signal }),
    { enabled: customerId !== '' },
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const customer = typed.trim()
    setMissing(customer === '')
    setAsked(customer === '' ? undefined : { customer, round: (asked?.round ?? 0) + 1 })
  }
  return (
    <Panel title={texts.title} lead={texts.lead} weight="quiet">
      <form className="lookup-line" onSubmit={submit} noValidate>
        <TextInput
          label={texts.customer}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={missing ? texts.missing : fieldProblem(query.problem, 'customerId')}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
          {texts.look}
        </Button>
      </form>
      <ProblemView problem={query.problem} fields={['customerId']} />
      <div role="status" aria-live="polite">
        {query.data !== undefined && <Place {...props} answer={query.data} />}
      </div>
    </Panel>
  )
}

function Place({ answer, rule, next, now, zone }: WhoPanelProps & { answer: ExplainCheckAnswer }) {
  const { check, waves } = useTexts()
  const texts = waves.who
  const words = useWords(zone)
  const result = answer.results[0]!
  const own = result.steps.filter(({ allowlistId }) => allowlistId === undefined)
  const place = own.find((step) => step.place !== undefined)?.place
  const reached = place === undefined ? undefined : reachedAt(rule, place, now)
  const isIn = (allowed: boolean) => (
    <State kind={allowed ? 'good' : 'neutral'}>{allowed ? texts.in : texts.out}</State>
  )
  return (
    <div className="who-answer">
      <p>
        {isIn(result.allowed)} <strong className="mono">{answer.customerId}</strong>{' '}
        {check.reasons[result.reason]}
      </p>
      {place !== undefined && (
        <p>
          {texts.place(words.share(place))}{' '}
          {!result.allowed && (reached === undefined ? texts.never : texts.reaches(words.moment(reached)))}
        </p>
      )}
      {place !== undefined && next !== undefined && FORMS[next.strategy].isShare && (
        <p>
          {texts.withDraft} {isIn(place < shareNow(next, now))}
        </p>
      )}
    </div>
  )
}
