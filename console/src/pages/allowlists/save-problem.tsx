import { Button, Group } from '@mantine/core'
import type { ApiProblem } from '../../api/client.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'

/** Why saving failed. A version conflict is explained in words, with a reload. */
export function SaveProblem({ problem, onReload }: { problem: ApiProblem | undefined; onReload(): void }) {
  const { allowlists } = useTexts()
  const texts = allowlists.changedMeanwhile
  if (problem?.status !== 412)
    return <ProblemView problem={problem} fields={['name', 'description', 'owner', 'tags']} />
  return (
    <div className="notice" role="alert">
      <strong>{texts.title}</strong>
      <div>{texts.text}</div>
      <Group mt="xs">
        <Button size="compact-sm" variant="default" onClick={onReload}>
          {texts.reload}
        </Button>
      </Group>
    </div>
  )
}

/** The format of `If-Match`. */
export const etag = (version: number): string => `"${version}"`
