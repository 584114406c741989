import { Skeleton, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { api, type CheckAnswer, type ExplainCheckAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Curl } from '../../parts/curl.js'
import { Folded } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { State, Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Explained, type Result, Sentence } from './sentence.js'

type Step = Explained['steps'][number]
type Answered = CheckAnswer | ExplainCheckAnswer

export interface AnswerProps {
  customer: string
  lists: string[]
  /** Whether the key may read the explanation, and not only the result. */
  explain: boolean
}

export function Answer({ customer, lists, explain }: AnswerProps) {
  const { check: texts, common } = useTexts()
  const query = useQuery<Answered>(`${customer} ${lists}`, (signal) => {
    const question = { customerId: customer, allowlists: lists }
    return explain ? api.explainCheck(question, { signal }) : api.checkCustomer(question, { signal })
  })
  const path = `/customers/${encodeURIComponent(customer)}/check?allowlists=${lists.map(encodeURIComponent).join(',')}`
  return (
    <>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={72} radius="md" />}
      <div role="status" aria-live="polite">
        {query.data !== undefined && <Verdict answer={query.data} />}
      </div>
      {query.data !== undefined && !explain && <div className="notice">{texts.noSteps}</div>}
      {query.data !== undefined && (
        <Folded title={common.sameAsCurl}>
          <Curl path={path} />
        </Folded>
      )}
    </>
  )
}

/** The answer in one sentence for each list, those that deny first; the steps are folded below. */
function Verdict({ answer }: { answer: Answered }) {
  const { check: texts } = useTexts()
  const format = useFormat()
  const { customerId, overallAllowed, results } = answer
  const denying = results.filter(({ allowed }) => !allowed)
  const sorted = [...denying, ...results.filter(({ allowed }) => allowed)]
  return (
    <section
      className={`verdict verdict-${overallAllowed ? 'good' : 'bad'}`}
      aria-label={overallAllowed ? texts.allowed : texts.denied}
    >
      <p className="verdict-head">
        <State kind={overallAllowed ? 'good' : 'bad'}>{overallAllowed ? texts.allowed : texts.denied}</State>
        <span>
          <strong className="mono">{customerId}</strong>{' '}
          {overallAllowed
            ? texts.overallAllowed
            : texts.overallDenied(format.number(denying.length), format.number(results.length))}
        </span>
        {'durationUs' in answer && (
          <span className="verdict-time">{texts.answeredIn(format.microseconds(answer.durationUs))}</span>
        )}
      </p>
      <ul className="verdict-lists">
        {sorted.map((result) => (
          <li key={result.allowlistId}>
            <ListAnswer result={result} />
          </li>
        ))}
      </ul>
    </section>
  )
}

export function ListAnswer({ result }: { result: Result }) {
  const { check: texts } = useTexts()
  return (
    <>
      <Sentence result={result} />
      {'steps' in result && result.steps.length > 0 && (
        <details className="steps">
          <summary>
            {texts.steps}
            <span className="visually-hidden"> {result.allowlistId}</span>
          </summary>
          <Steps list={result.allowlistId} steps={result.steps} />
        </details>
      )}
    </>
  )
}

function Steps({ list, steps }: { list: string; steps: readonly Step[] }) {
  const { check: texts, waves } = useTexts()
  const names = { ...texts.stepNames, ...waves.stepNames }
  const format = useFormat()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section className="table-scroll" aria-label={`${texts.steps}: ${list}`} tabIndex={0}>
      <Table verticalSpacing={4} horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.step}</Table.Th>
            <Table.Th>{texts.outcome}</Table.Th>
            <Table.Th ta="right">{texts.took}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no name of their own and never move.
            <Table.Tr key={index}>
              <Table.Td className="step-name">
                {names[step.step]} {step.allowlistId !== undefined && <Tag>{step.allowlistId}</Tag>}
              </Table.Td>
              <Table.Td>
                <Outcome step={step} />
              </Table.Td>
              <Table.Td ta="right" className="figure">
                {format.microseconds(step.durationUs)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function Outcome({ step }: { step: Step }) {
  const { check: texts, waves } = useTexts()
  const format = useFormat()
  const known: Record<string, string> = { ...texts.outcomes, ...waves.outcomes }
  const detail = (): ReactNode => {
    if (step.place !== undefined && step.percentage !== undefined)
      return texts.place(format.percent(step.place, 2), format.percent(step.percentage, 2))
    if (step.step === 'expiry' && step.detail !== undefined) return <Time value={step.detail} />
    return step.step === 'list' ? undefined : step.detail
  }
  return (
    <>
      {known[`${step.step}.${step.outcome}`] ?? step.outcome}
      <span className="detail"> {detail()}</span>
    </>
  )
}
