import { Button, Group } from '@mantine/core'
import type { ApiProblem } from '../api/client.js'
import { useTexts } from '../texts/language.js'
import { fieldWords, problemWords } from '../texts/server-words.js'
import { Icon } from './icons.js'

/** An error in the words of the server, with its fields and the request id for the log. */
export function ProblemView({ problem, retry }: { problem: ApiProblem | undefined; retry?: () => void }) {
  const { common } = useTexts()
  if (problem === undefined) return null
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
        {problem.errors.length > 0 && (
          <ul>
            {problem.errors.map(({ path, message }) => (
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
