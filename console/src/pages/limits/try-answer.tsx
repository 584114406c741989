import { Button } from '@mantine/core'
import type { AcquireAnswer } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { ProblemView } from '../../parts/problem.js'
import { State } from '../../parts/state.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { timeLeft } from './words.js'

interface Violation {
  entity: string
  limit: string
  retryAfterMs: number
}

export interface Denial {
  allowed: false
  violations: Violation[]
  retryAfterMs: number
}

export interface TryAnswerProps {
  answer: AcquireAnswer | Denial
  entity: string
  onGiveBack(leaseId: string): Promise<unknown>
}

export function TryAnswer({ answer, entity, onGiveBack }: TryAnswerProps) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const { allowed } = answer
  return (
    <div className={`verdict verdict-${allowed ? 'good' : 'bad'} try-answer`}>
      <State kind={allowed ? 'good' : 'bad'}>{allowed ? texts.allowed : texts.isDenied}</State>
      {answer.allowed ? (
        <Taken answer={answer} entity={entity} onGiveBack={onGiveBack} />
      ) : (
        <>
          <span>{texts.retryIn(timeLeft(answer.retryAfterMs, format))}</span>
          <Violations items={answer.violations} entity={entity} />
        </>
      )}
    </div>
  )
}

function Taken({ answer, entity, onGiveBack }: TryAnswerProps & { answer: AcquireAnswer }) {
  const { limits: texts } = useTexts()
  const { leaseId, shadowViolations = [], parent, degraded } = answer
  const { run, running, problem } = useAction(() => onGiveBack(leaseId))
  return (
    <>
      <span>{degraded ? texts.takenDegraded : parent ? texts.takenParent(parent.entity) : texts.taken}</span>
      {!degraded && (
        <Button size="compact-sm" variant="default" loading={running} onClick={() => void run()}>
          {texts.giveBack}
        </Button>
      )}
      {shadowViolations.length > 0 && (
        <>
          <span className="try-wide">{texts.shadowDenied}</span>
          <Violations items={shadowViolations} entity={entity} />
        </>
      )}
      <ProblemView problem={problem} />
    </>
  )
}

function Violations({ items, entity }: { items: readonly Violation[]; entity: string }) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  return (
    <ul className="violations">
      {items.map((violation) => (
        <li key={`${violation.entity} ${violation.limit}`}>
          <strong>{violation.limit}</strong>{' '}
          {violation.entity !== entity && <>{texts.ofParent(violation.entity)} </>}
          <span className="detail">{texts.againIn(timeLeft(violation.retryAfterMs, format))}</span>
        </li>
      ))}
    </ul>
  )
}
