import { CHECK_REASONS, EXPLAIN_STEPS } from '../../guards/allowlist/types.js'
import { FACT_SCHEMAS, type StrategyFacts } from '../../guards/allowlist/wave/strategies.js'
import { closed, isoTime, oneOf, shared } from '../common.js'
import { operations } from '../operation.js'
import { type TOptional, type TUnsafe, Type } from '../typebox.js'
import { listId } from './lists.js'
import { customerId } from './members.js'

const verdict = {
  allowlistId: listId,
  allowed: Type.Boolean(),
  type: Type.Unsafe<'FIXA' | 'ONDA' | null>({ type: ['string', 'null'], enum: ['FIXA', 'ONDA', null] }),
  reason: oneOf(CHECK_REASONS),
  degraded: Type.Optional(
    Type.Literal(true, { description: 'The store did not answer; see `allowlists.onUnavailable`' }),
  ),
}

export const CheckAnswer = Type.Object(
  {
    customerId,
    results: Type.Array(
      Type.Object({ ...verdict, checkedAt: isoTime, addedAt: Type.Optional(isoTime) }, closed),
    ),
    overallAllowed: Type.Boolean(),
    degraded: Type.Optional(Type.Literal(true)),
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

const Explanation = Type.Object(
  {
    customerId,
    results: Type.Array(Type.Object({ ...verdict, steps: Type.Array(explainStep) }, closed)),
    overallAllowed: Type.Boolean(),
    durationUs,
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
    summary: 'May this customer pass?',
    scope: 'check',
    params: { customerId },
    query: { allowlists, ...freshness },
    answers: { 200: ['The answer, list by list', shared(CheckAnswer)] },
  },
  explainCheck: {
    route: 'GET /customers/:customerId/explain',
    summary: 'May this customer pass, and why?',
    scope: 'read',
    params: { customerId },
    query: { allowlists },
    answers: { 200: ['The answer, step by step', Explanation] },
  },
  checkCustomers: {
    route: 'POST /check',
    summary: 'May these customers pass?',
    scope: 'check',
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
