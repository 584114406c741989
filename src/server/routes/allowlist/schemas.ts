import { SCOPES } from '../../../guards/access/scopes.js'
import { LIST_SORTS } from '../../../guards/allowlist/list-search.js'
import {
  type AddResult,
  type Allowlist,
  CHECK_REASONS,
  type CheckAnswer,
  type CustomerAllowlist,
  EXPLAIN_STEPS,
  type Explanation,
  type ImportResult,
  type ImportStatus,
  type JsonObject,
  type Member,
  type NewAllowlist,
  type RemoveResult,
  type WaveConfig,
} from '../../../guards/allowlist/types.js'
import { WAVE_SCHEMA } from '../../../guards/allowlist/wave/config.js'
import { FACT_SCHEMAS, type StrategyFacts } from '../../../guards/allowlist/wave/table.js'
import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from '../../http/typebox.js'

/**
 * The shape of requests and responses. The library validates the values (identifiers, ranges, dates), so that the
 * library and the server refuse the same input with the same messages.
 */
const closed = { additionalProperties: false } as const

export function oneOf<const T extends readonly string[]>(values: T, description?: string) {
  return Type.Unsafe<T[number]>({
    type: 'string',
    enum: values,
    ...(description === undefined ? {} : { description }),
  })
}

const isoTime = Type.String({ description: 'ISO 8601 in UTC' })
const count = Type.Integer({ minimum: 0 })
const jsonObject = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })

export const listId = Type.String({ description: 'Id of an allowlist' })
export const customerId = Type.String({ description: 'Id of a customer; UUIDs in any case' })

export const waveConfig = Type.Unsafe<WaveConfig>(WAVE_SCHEMA)

export const newAllowlist = Type.Object(
  {
    id: Type.Optional(listId),
    name: Type.String(),
    type: oneOf(['FIXA', 'ONDA']),
    config: Type.Optional(waveConfig),
    precision: Type.Optional(oneOf(['exact', 'trusted'])),
  },
  closed,
)

export const allowlistChange = Type.Object(
  { name: Type.Optional(Type.String()), config: Type.Optional(waveConfig) },
  closed,
)

export const allowlist = Type.Object(
  {
    id: listId,
    name: Type.String(),
    type: oneOf(['FIXA', 'ONDA']),
    config: Type.Optional(waveConfig),
    paused: Type.Optional(
      Type.Object(
        { at: isoTime, config: waveConfig },
        { ...closed, description: 'Of a paused wave: since when, and the rule that `resume` brings back' },
      ),
    ),
    precision: oneOf(['exact', 'trusted']),
    customerCount: count,
    version: Type.Integer({ description: 'Counts changes of name and config; also the ETag' }),
    shardCount: Type.Integer(),
    createdAt: isoTime,
    updatedAt: isoTime,
  },
  closed,
)

export const indexStatus = Type.Object(
  {
    allowlistId: listId,
    state: oneOf(['loaded', 'behind', 'absent'], 'In the memory of this process'),
    building: Type.Boolean(),
    pages: count,
    sizeBytes: count,
    customers: Type.Integer({ minimum: 0, description: 'In the snapshot' }),
    position: Type.Integer({ minimum: 0, description: 'The last change that is applied' }),
    overlaySize: Type.Integer({ minimum: 0, description: 'Customers changed since the snapshot' }),
    feedLagMs: Type.Optional(
      Type.Number({ description: 'How far the image in memory may be behind; absent when there is none' }),
    ),
    lastBuild: Type.Optional(
      Type.Object({ at: isoTime, tookMs: Type.Number(), rebuiltPages: count }, closed),
    ),
  },
  closed,
)

export const memberInput = Type.Object(
  {
    addedBy: Type.Optional(Type.String()),
    metadata: Type.Optional(jsonObject),
    expiresAt: Type.Optional(isoTime),
  },
  closed,
)

export const member = Type.Object(
  {
    customerId,
    addedAt: isoTime,
    addedBy: Type.Optional(Type.String()),
    metadata: Type.Optional(jsonObject),
    expiresAt: Type.Optional(isoTime),
  },
  closed,
)

export const customerAllowlist = Type.Object(
  { allowlistId: listId, name: Type.String(), addedAt: isoTime, expiresAt: Type.Optional(isoTime) },
  closed,
)

const token = Type.String({ description: 'Pass it as `atLeast` to see this write' })
export const addResult = Type.Object({ added: Type.Boolean(), customerCount: count, token }, closed)
export const removeResult = Type.Object({ removed: Type.Boolean(), customerCount: count, token }, closed)

const verdict = {
  allowlistId: listId,
  allowed: Type.Boolean(),
  type: Type.Unsafe<'FIXA' | 'ONDA' | null>({ type: ['string', 'null'], enum: ['FIXA', 'ONDA', null] }),
  reason: oneOf(CHECK_REASONS),
  degraded: Type.Optional(
    Type.Literal(true, { description: 'The store did not answer; see `allowlists.onUnavailable`' }),
  ),
}

const checkResult = Type.Object(
  {
    ...verdict,
    checkedAt: isoTime,
    addedAt: Type.Optional(isoTime),
  },
  closed,
)

export const checkAnswer = Type.Object(
  {
    customerId,
    results: Type.Array(checkResult),
    overallAllowed: Type.Boolean(),
    degraded: Type.Optional(Type.Literal(true)),
  },
  closed,
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

export const explanation = Type.Object(
  {
    customerId,
    results: Type.Array(Type.Object({ ...verdict, steps: Type.Array(explainStep) }, closed)),
    overallAllowed: Type.Boolean(),
    durationUs,
  },
  closed,
)

export const reshardStatus = Type.Object(
  {
    allowlistId: listId,
    shardCount: count,
    moving: Type.Optional(
      Type.Object({ shards: count, phase: Type.String(), copied: count, total: count }, closed),
    ),
  },
  closed,
)

export const checkManyQuestion = Type.Object(
  {
    customerIds: Type.Array(Type.String(), { description: '1 to 1,000' }),
    allowlists: Type.Array(Type.String(), { description: '1 to 100; at most 20,000 pairs' }),
  },
  closed,
)

const rejectedRow = Type.Object(
  {
    line: Type.Integer(),
    message: Type.String(),
    row: Type.Optional(Type.String({ description: 'As it came, up to 256 characters' })),
  },
  closed,
)
const importCounts = {
  added: count,
  unchanged: count,
  removed: count,
  rejected: count,
  rowsWithExtraCells: Type.Optional(
    Type.Integer({
      description: 'Imported CSV rows with more cells than the first row: these cells were not imported',
    }),
  ),
  firstErrors: Type.Array(rejectedRow),
}

export const importResult = Type.Object(
  { importId: Type.String(), ...importCounts, customerCount: count, token },
  closed,
)

export const importAccepted = Type.Object({ importId: Type.String(), status: oneOf(['running']) }, closed)

export const importStatus = Type.Object(
  {
    importId: Type.String(),
    allowlistId: listId,
    mode: oneOf(['add', 'replace']),
    state: oneOf(['running', 'completed', 'interrupted', 'failed']),
    rowsAcknowledged: count,
    ...importCounts,
    startedAt: isoTime,
    updatedAt: isoTime,
    error: Type.Optional(Type.String()),
  },
  closed,
)

export const newKey = Type.Object({ name: Type.String(), scopes: Type.Array(oneOf(SCOPES)) }, closed)
export const apiKey = Type.Object(
  {
    id: Type.String({ description: 'As the audit trail names it beside the name' }),
    name: Type.String(),
    scopes: Type.Array(oneOf(SCOPES)),
    createdAt: isoTime,
  },
  closed,
)
export const createdKey = Type.Object(
  { ...apiKey.properties, key: Type.String({ description: 'Shown only this once' }) },
  closed,
)

export const problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'One of the documented error codes' }),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed))),
    requestId: Type.Optional(Type.String()),
  },
  { additionalProperties: true, description: 'RFC 9457 problem' },
)

export const pageQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ description: 'At most 1,000; 100 when absent' })),
    cursor: Type.Optional(Type.String({ description: '`nextCursor` of the page before' })),
  },
  closed,
)

export const allowlistQuery = Type.Object(
  {
    ...pageQuery.properties,
    search: Type.Optional(Type.String({ description: 'Part of an id or a name, in any case' })),
    type: Type.Optional(oneOf(['FIXA', 'ONDA'])),
    sort: Type.Optional(oneOf(LIST_SORTS, 'By id when absent')),
    order: Type.Optional(oneOf(['asc', 'desc'])),
  },
  closed,
)

export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), nextCursor: Type.Optional(Type.String()) }, closed)
}

/** Compiles only while schemas and types are equal. */
type Same<A, B> = [A, B] extends [B, A] ? true : never
type Agreement = [
  Same<Static<typeof newAllowlist>, NewAllowlist>,
  Same<Static<typeof allowlist>, Allowlist>,
  Same<Static<typeof member>, Member>,
  Same<Static<typeof customerAllowlist>, CustomerAllowlist>,
  Same<Static<typeof addResult>, AddResult>,
  Same<Static<typeof removeResult>, RemoveResult>,
  Same<Static<typeof checkAnswer>, CheckAnswer>,
  Same<Static<typeof explanation>, Explanation>,
  Same<Static<typeof importResult>, ImportResult>,
  Same<Static<typeof importStatus>, ImportStatus>,
]
export const schemasAgree: Agreement = [true, true, true, true, true, true, true, true, true, true]
