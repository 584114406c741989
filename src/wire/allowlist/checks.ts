import { CHECK_REASONS, EXPLAIN_STEPS } from '../../guards/allowlist/types.js'
import { FACT_SCHEMAS, type StrategyFacts } from '../../guards/allowlist/wave/strategies.js'
import { closed, isoTime, oneOf, page, shared } from '../common.js'
import { operations } from '../operation.js'
import { listsInBody, listsInQuery } from '../reach.js'
import { type TOptional, type TUnsafe, Type } from '../typebox.js'
import { listId } from './lists.js'
import { customerId } from './members.js'

const asOf = Type.Unsafe<string>({
  ...isoTime,
  description:
    'With `degraded`, when memory gave the answer: the time at which memory was last known to be right',
})
const verdict = {
  allowlistId: listId,
  allowed: Type.Boolean(),
  type: Type.Unsafe<'FIXA' | 'ONDA' | null>({ type: ['string', 'null'], enum: ['FIXA', 'ONDA', null] }),
  reason: oneOf(CHECK_REASONS),
  degraded: Type.Optional(
    Type.Literal(true, { description: 'The store did not answer; see `allowlists.onUnavailable`' }),
  ),
  asOf: Type.Optional(asOf),
}

export const CheckAnswer = Type.Object(
  {
    customerId,
    results: Type.Array(
      Type.Object({ ...verdict, checkedAt: isoTime, addedAt: Type.Optional(isoTime) }, closed),
    ),
    overallAllowed: Type.Boolean(),
    degraded: Type.Optional(Type.Literal(true)),
    asOf: Type.Optional(asOf),
  },
  { $id: 'CheckAnswer', ...closed },
)

const durationUs = Type.Number({ description: 'Microseconds' })
const strategyFacts = Object.fromEntries(
  Object.entries(FACT_SCHEMAS).map(([name, schema]) => [name, Type.Optional(Type.Unsafe(schema))]),
) as { [Name in keyof StrategyFacts]-?: TOptional<TUnsafe<NonNullable<StrategyFacts[Name]>>> }
const explainStep = Type.Object(
  {
    step: oneOf(EXPLAIN_STEPS),
    outcome: Type.String(),
    detail: Type.Optional(Type.String({ description: 'In words' })),
    allowlistId: Type.Optional(
      Type.String({ description: 'When it is about a list that the list rests on' }),
    ),
    ...strategyFacts,
    durationUs,
  },
  closed,
)

const optionalTime = (description: string) => Type.Optional(Type.Unsafe<string>({ ...isoTime, description }))
const Why = Type.Object(
  {
    decidedBy: Type.Optional(
      Type.String({
        description: 'The list that a wave rests on, and that decided: its base, or an exclusion',
      }),
    ),
    place: Type.Optional(Type.Number({ description: 'Where the customer stands in the wave, 0 to 1' })),
    share: Type.Optional(Type.Number({ description: 'What is open now, 0 to 1' })),
    reachesAt: optionalTime('When a planned step reaches the customer'),
    neverReached: Type.Optional(Type.Literal(true, { description: 'No planned step reaches the customer' })),
    pausedAt: optionalTime('Since when the wave is paused'),
    opensAt: optionalTime('When the time window opens'),
    closedAt: optionalTime('When the time window closed'),
    expiredAt: optionalTime('When the membership expired'),
  },
  { ...closed, description: 'The facts behind the verdict, for one sentence' },
)

const Explanation = Type.Object(
  {
    customerId,
    results: Type.Array(
      Type.Object(
        {
          ...verdict,
          name: Type.Optional(Type.String({ description: 'Of the list' })),
          why: Type.Optional(Why),
          steps: Type.Array(explainStep),
        },
        closed,
      ),
    ),
    overallAllowed: Type.Boolean({ description: 'Of the results' }),
    durationUs,
    nextCursor: Type.Optional(Type.String({ description: 'When all lists are explained: there are more' })),
  },
  closed,
)

const allowlists = Type.Array(Type.String(), { description: '1 to 100 ids, comma-separated or repeated' })
const freshness = {
  consistency: Type.Optional(oneOf(['strong'], '`strong`: read the store, not memory')),
  atLeast: Type.Optional(Type.String({ description: 'Token of a write that the check must see' })),
}

export const CHECKS = operations('checks', {
  checkCustomer: {
    route: 'GET /customers/:customerId/check',
    isHot: true,
    summary: 'May this customer pass?',
    scope: 'check',
    reach: listsInQuery,
    params: { customerId },
    query: { allowlists, ...freshness },
    answers: { 200: ['The answer, list by list', shared(CheckAnswer)] },
  },
  explainCheck: {
    route: 'GET /customers/:customerId/explain',
    summary: 'May this customer pass, and why? Without `allowlists`: over all lists, page by page',
    scope: 'read',
    reach: listsInQuery,
    params: { customerId },
    query: {
      allowlists: Type.Optional(allowlists),
      type: Type.Optional(oneOf(['FIXA', 'ONDA'], 'Over all lists: only these')),
      outcome: Type.Optional(oneOf(['allowed', 'denied'], 'Over all lists: only these results')),
      limit: Type.Optional(
        Type.Integer({ description: 'Lists that one call looks at: at most 200; 100 when absent' }),
      ),
      cursor: page.cursor,
    },
    answers: { 200: ['The answer, step by step', Explanation] },
  },
  checkCustomers: {
    route: 'POST /check',
    isHot: true,
    summary: 'May these customers pass?',
    scope: 'check',
    reach: listsInBody,
    query: freshness,
    body: Type.Object(
      {
        customerIds: Type.Array(Type.String(), { description: '1 to 1,000' }),
        allowlists: Type.Array(Type.String(), { description: '1 to 100; at most 20,000 pairs' }),
      },
      closed,
    ),
    hasLargeBody: true,
    answers: {
      200: [
        'The answers, customer by customer',
        Type.Object({ results: Type.Array(shared(CheckAnswer)) }, closed),
      ],
    },
  },
})
