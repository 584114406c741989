import { LIST_SORTS, type WaveConfig as Rule } from '../../guards/allowlist/types.js'
import { WAVE_SCHEMA } from '../../guards/allowlist/wave/config.js'
import { closed, count, isoTime, oneOf, page, pageOf, shared } from '../common.js'
import { operations } from '../operation.js'
import { Type } from '../typebox.js'

export const listId = Type.String({ description: 'Id of an allowlist' })
const params = { id: listId }
const listType = oneOf(['FIXA', 'ONDA'])
const precision = oneOf(['exact', 'trusted'])

const WaveConfig = Type.Unsafe<Rule>(WAVE_SCHEMA)

const NewAllowlist = Type.Object(
  {
    id: Type.Optional(listId),
    name: Type.String(),
    type: listType,
    config: Type.Optional(WaveConfig),
    precision: Type.Optional(precision),
  },
  closed,
)

const AllowlistChange = Type.Object(
  { name: Type.Optional(Type.String()), config: Type.Optional(WaveConfig) },
  closed,
)

export const Allowlist = Type.Object(
  {
    id: listId,
    name: Type.String(),
    type: listType,
    config: Type.Optional(WaveConfig),
    paused: Type.Optional(
      Type.Object(
        { at: isoTime, config: WaveConfig },
        { ...closed, description: 'Of a paused wave: since when, and the rule that `resume` brings back' },
      ),
    ),
    precision,
    customerCount: count,
    version: Type.Integer({ description: 'Counts changes of name and config; also the ETag' }),
    shardCount: Type.Integer(),
    createdAt: isoTime,
    updatedAt: isoTime,
  },
  { $id: 'Allowlist', ...closed },
)

const AllowlistPage = Type.Object(
  {
    ...pageOf(shared(Allowlist)).properties,
    total: Type.Optional(
      Type.Integer({ description: 'How many lists match, when the request searches or sorts' }),
    ),
  },
  closed,
)

const ifMatch = {
  'if-match': Type.Optional(Type.String({ description: 'Version that must be current, such as `"3"`' })),
}

export const LISTS = operations('allowlists', {
  createAllowlist: {
    route: 'POST /allowlists',
    summary: 'Create an allowlist',
    scope: 'admin',
    body: NewAllowlist,
    // A wave may name many customers.
    hasLargeBody: true,
    answers: { 201: ['The new allowlist', shared(Allowlist)] },
  },
  listAllowlists: {
    route: 'GET /allowlists',
    summary: 'List the allowlists, or search and sort them',
    scope: 'read',
    query: {
      ...page,
      search: Type.Optional(Type.String({ description: 'Part of an id or a name, in any case' })),
      type: Type.Optional(listType),
      sort: Type.Optional(oneOf(LIST_SORTS, 'By id when absent')),
      order: Type.Optional(oneOf(['asc', 'desc'])),
    },
    answers: { 200: ['A page of allowlists', AllowlistPage] },
  },
  getAllowlist: {
    route: 'GET /allowlists/:id',
    summary: 'Read an allowlist',
    scope: 'read',
    params,
    answers: { 200: ['The allowlist', shared(Allowlist)] },
  },
  updateAllowlist: {
    route: 'PATCH /allowlists/:id',
    summary:
      'Change the name or the config of an allowlist; with `If-Match`, only if its version is still the given one',
    scope: 'admin',
    params,
    headers: ifMatch,
    body: AllowlistChange,
    hasLargeBody: true,
    answers: { 200: ['The changed allowlist', shared(Allowlist)] },
  },
  pauseAllowlist: {
    route: 'POST /allowlists/:id/pause',
    summary: 'Pause a wave: no customer passes, and its rule is kept. Works on any version',
    scope: 'admin',
    params,
    answers: { 200: ['The paused wave', shared(Allowlist)] },
  },
  resumeAllowlist: {
    route: 'POST /allowlists/:id/resume',
    summary: 'Resume a paused wave with the rule that it had',
    scope: 'admin',
    params,
    headers: ifMatch,
    answers: { 200: ['The resumed wave', shared(Allowlist)] },
  },
  deleteAllowlist: {
    route: 'DELETE /allowlists/:id',
    summary: 'Delete an allowlist',
    scope: 'admin',
    params,
    answers: { 204: 'Deleted' },
  },
})

const IndexStatus = Type.Object(
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

/** The membership index of a list. */
export const INDEXES = operations('allowlists', {
  getIndex: {
    route: 'GET /allowlists/:id/index',
    summary: 'State of the membership index',
    scope: 'read',
    params,
    answers: { 200: ['The index as this process knows it', IndexStatus] },
  },
  rebuildIndex: {
    route: 'POST /allowlists/:id/rebuild',
    summary: 'Rebuild the membership index',
    scope: 'admin',
    params,
    answers: { 202: ['The build has started', IndexStatus] },
  },
})

const ReshardStatus = Type.Object(
  {
    allowlistId: listId,
    shardCount: count,
    moving: Type.Optional(
      Type.Object({ shards: count, phase: Type.String(), copied: count, total: count }, closed),
    ),
  },
  closed,
)

/** The shards of a list, for engines that split lists. */
export const SHARDS = operations('allowlists', {
  getShards: {
    route: 'GET /allowlists/:id/reshard',
    summary: 'Read the shards of an allowlist, and the progress of a move',
    scope: 'read',
    params,
    answers: { 200: ['Its shards', ReshardStatus] },
  },
  reshardAllowlist: {
    route: 'POST /allowlists/:id/reshard',
    summary: 'Move an allowlist to another number of shards, while checks continue',
    scope: 'admin',
    params,
    body: Type.Object({ shards: Type.Integer() }, closed),
    answers: {
      200: ['The allowlist has this number of shards already', ReshardStatus],
      202: ['The move has started', ReshardStatus],
    },
  },
})
