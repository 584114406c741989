import { Button, Group } from '@mantine/core'
import { useEffect } from 'react'
import type { ApiProblem } from '../api/client.js'
import { useReachable } from '../api/connection.js'
import { useTexts } from '../texts/language.js'
import { fieldWords, problemWords } from '../texts/server-words.js'
import { Icon } from './icons.js'

export interface ProblemViewProps {
  problem: ApiProblem | undefined
  retry?: () => void
  /** Fields that show their errors themselves. Nothing is said twice. */
  fields?: readonly string[]
  /** Shown even where the layout says that the server does not answer: nothing asks for it again by itself. */
  always?: boolean
}

/** An error in the words of the server, with the fields that no form shows and the request id for the log. */
export function ProblemView({ problem, retry, fields = [], always = false }: ProblemViewProps) {
  const { common } = useTexts()
  const isReachable = useReachable()
  const others = problem?.errors.filter(({ path }) => !fields.includes(path)) ?? []
  const isAtFields = problem !== undefined && problem.errors.length > 0 && others.length === 0
  useEffect(() => {
    if (isAtFields) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [isAtFields])
  // The layout says that the server does not answer; what is shown here is asked for again by itself.
  const isSaidAbove = problem?.code === 'UNREACHABLE' && retry !== undefined && !isReachable && !always
  if (problem === undefined || isAtFields || isSaidAbove) return null
  const detail =
    problem.code === 'UNREACHABLE'
      ? common.problemNetwork
      : problem.code === 'UNEXPECTED'
        ? common.problemUnexpected
        : problemWords(problem.code, problem.message)
  return (
    <div className="problem" role="alert">
      <Icon name="warning" />
      <div className="problem-text">
        <strong>{common.problemTitle}</strong> <code>{problem.code}</code>
        <div>{detail}</div>
        {others.length > 0 && (
          <ul>
            {others.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path}</code> {fieldWords(message)}
              </li>
            ))}
          </ul>
        )}
        {problem.requestId !== undefined && (
          <div className="problem-request">
            {common.requestId} <code>{problem.requestId}</code>
          </div>
        )}
        {retry !== undefined && (
          <Group mt="xs">
            <Button size="compact-sm" variant="default" onClick={retry}>
              {common.retry}
            </Button>
          </Group>
        )}
      </div>
    </div>
  )
}
