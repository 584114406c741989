import { Button, Group, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type AcquireAnswer, ApiProblem, api } from '../../api/client.js'
import { useAction } from '../../data/use-action.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import type { SubjectProps } from './entity.js'
import { FoldedCurl } from './folded-curl.js'
import { type Denial, TryAnswer } from './try-answer.js'

export interface TryPanelProps extends SubjectProps {
  round: number
  onTaken(): void
}

/** Acquires like a program, and shows the result. */
export function TryPanel({ entity, resource, round, onTaken }: TryPanelProps) {
  const { limits: texts } = useTexts()
  // Only for the names of the limits: what is left is shown elsewhere.
  const status = useQuery(`names ${round}`, (signal) => api.getLimits({ entity, resource }, { signal }), {
    keepPrevious: true,
  })
  const [costs, setCosts] = useState<Record<string, string>>({})
  const [isWrong, setWrong] = useState(false)
  const [answer, setAnswer] = useState<AcquireAnswer | Denial>()
  const names = Object.keys(status.data?.limits ?? {})
  const costOf = (name: string): string => costs[name] ?? '1'
  const isCost = (text: string): boolean => /^\d{1,10}$/.test(text.trim())
  const consume = Object.fromEntries(names.map((name) => [name, Number(costOf(name))]))
  const body = { entity, resource, consume }
  const { run, running, problem } = useAction(async () => {
    setAnswer(undefined)
    setAnswer(await acquire(body))
    onTaken()
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const wrong = names.some((name) => !isCost(costOf(name)))
    setWrong(wrong)
    if (!wrong) void run()
  }
  const giveBack = async (leaseId: string): Promise<void> => {
    await api.releaseLease({ leaseId })
    announce(texts.givenBack)
    setAnswer(undefined)
    onTaken()
  }
  if (names.length === 0) return null
  return (
    <Panel title={texts.tryOne} lead={texts.tryLead}>
      <form className="try-form" onSubmit={submit} noValidate>
        {names.map((name) => (
          <TextInput
            key={name}
            label={texts.costOf(name)}
            inputMode="numeric"
            value={costOf(name)}
            onChange={(event) => setCosts({ ...costs, [name]: event.currentTarget.value })}
            error={isWrong && !isCost(costOf(name)) ? texts.faults.cost : undefined}
            autoComplete="off"
          />
        ))}
        <Group>
          <Button type="submit" loading={running}>
            {texts.take}
          </Button>
        </Group>
      </form>
      <ProblemView problem={problem} />
      <div role="status" aria-live="polite">
        {answer !== undefined && <TryAnswer answer={answer} entity={entity} onGiveBack={giveBack} />}
      </div>
      <FoldedCurl method="POST" path="/limits/acquire" body={body} />
    </Panel>
  )
}

/** A denial is a result here, not an error. */
async function acquire(body: Parameters<typeof api.acquire>[0]['body']): Promise<AcquireAnswer | Denial> {
  try {
    return await api.acquire({ body })
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'QUOTA_EXCEEDED') {
      const { violations, retryAfterMs } = error.body as Omit<Denial, 'allowed'>
      return { allowed: false, violations, retryAfterMs }
    }
    throw error
  }
}
