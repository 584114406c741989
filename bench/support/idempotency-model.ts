/**
 * What idempotency records do, one step after another, written apart from the product: a history of several processes
 * is right when its steps can be put into an order in which this model gives the same answers.
 */
export interface Step {
  id: string
  key: string
  verb: 'claim' | 'complete' | 'fail' | 'extend' | 'release' | 'read'
  /** Milliseconds; of one that was never answered, `to` is infinite: it may have been done at any time, or never. */
  from: number
  to: number
  /** Of a claim. */
  hash?: string
  takesOver?: boolean
  leaseMs: number
  /** Of everything else: the claim that it speaks for. */
  owner?: string
  /** What was to be recorded. */
  value?: string
  answer?: string
}

interface Row {
  status: 'IN_PROGRESS' | 'COMPLETED' | 'FAILED'
  owner: string
  attempt: number
  hash: string
  /** The lease ends somewhere in here: when exactly it began is known to the engine alone. */
  leaseFrom: number
  leaseTo: number
  /** Whether everybody who claimed it so far lets it be taken over. */
  takesOver: boolean
  value: string
}

type State = Row | undefined
/** An answer the model can give, and what is then. */
type Possible = [answer: string, state: State]

const leaseOf = ({ from, to, leaseMs }: Step, skewMs: number) => ({
  leaseFrom: from + leaseMs - skewMs,
  leaseTo: to + leaseMs + skewMs,
})

/** Every answer that is right for this step in this state. */
function possible(state: State, step: Step, skewMs: number): Possible[] {
  switch (step.verb) {
    case 'claim':
      return claim(state, step, skewMs)
    case 'read':
      return [[state === undefined ? 'none' : `${state.status} ${state.attempt} ${state.value}`, state]]
    default:
      return [byOwner(state, step, skewMs)]
  }
}

function claim(state: State, step: Step, skewMs: number): Possible[] {
  const takesOver = step.takesOver === true && state?.takesOver !== false
  const mine = (attempt: number): Possible => [
    `claimed ${attempt}`,
    {
      ...{ status: 'IN_PROGRESS', owner: step.id, attempt, hash: step.hash!, value: '', takesOver },
      ...leaseOf(step, skewMs),
    },
  ]
  if (state === undefined) return [mine(1)]
  if (state.hash !== step.hash) return [['other-request', state]]
  if (state.status === 'COMPLETED') return [[`replayed ${state.value}`, state]]
  if (state.status === 'FAILED') return [mine(state.attempt + 1)]
  const answers: Possible[] = []
  if (step.from - skewMs < state.leaseTo) answers.push(['in-progress', state])
  if (step.to + skewMs >= state.leaseFrom)
    answers.push(takesOver ? mine(state.attempt + 1) : ['unknown', state])
  return answers
}

function byOwner(state: State, step: Step, skewMs: number): Possible {
  if (state === undefined || state.owner !== step.owner) return ['lost', state]
  if (state.status !== 'IN_PROGRESS') {
    const ended = { COMPLETED: 'complete', FAILED: 'fail' }[state.status]
    const isAgain = step.verb === ended || (step.verb === 'release' && state.status === 'FAILED')
    return [isAgain ? 'done' : 'lost', state]
  }
  if (step.verb === 'complete') return ['done', { ...state, status: 'COMPLETED', value: step.value! }]
  if (step.verb === 'extend') return ['done', { ...state, ...leaseOf(step, skewMs) }]
  if (step.verb === 'release' && state.attempt === 1) return ['done', undefined]
  return ['done', { ...state, status: 'FAILED' }]
}

/** Whether the steps on one key can be put into an order that explains all their answers. */
export function isExplained(steps: readonly Step[], skewMs = 0): boolean {
  const seen = new Set<string>()
  const search = (left: readonly Step[], state: State): boolean => {
    if (left.every(({ answer }) => answer === undefined)) return true
    const visit = `${left.map(({ id }) => id).join()}|${JSON.stringify(state)}`
    if (seen.has(visit)) return false
    seen.add(visit)
    // Whoever began only after another was answered comes after it.
    const firstAnswered = Math.min(...left.map(({ to }) => to))
    const next = left.filter(({ from }) => from <= firstAnswered)
    const without = (step: Step) => left.filter((other) => other !== step)
    // What changes nothing and fits here is in no other's way: it needs no other place.
    const idle = next.find(
      (step) => step.answer !== undefined && fits(state, step).some((after) => after === state),
    )
    if (idle !== undefined) return search(without(idle), state)
    return next.some((step) =>
      fits(state, step).some((after) => after !== state && search(without(step), after)),
    )
  }
  /** The states that a step with its answer may lead to. */
  const fits = (state: State, step: Step): State[] =>
    possible(state, step, skewMs)
      .filter(([answer]) => step.answer === undefined || step.answer === answer)
      .map(([, after]) => after)
  return search(
    [...steps].sort((a, b) => a.from - b.from),
    undefined,
  )
}
