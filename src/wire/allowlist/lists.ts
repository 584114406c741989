import { LIST_SORTS, type WaveConfig as Rule } from '../../guards/allowlist/types.js'
import { WAVE_SCHEMA } from '../../guards/allowlist/wave/config.js'
import { WAVE_STATES, WAVE_TURNS } from '../../guards/allowlist/wave/now.js'
import { Changed, changesOf, closed, count, isoTime, oneOf, page, pageOf, shared } from '../common.js'
import { operations } from '../operation.js'
import { listAndRule, listInPath, listsInChanges } from '../reach.js'
import { Type } from '../typebox.js'

export const listId = Type.String({ description: 'Id of an allowlist' })
const params = { id: listId }
const listType = oneOf(['FIXA', 'ONDA'])
const precision = oneOf(['exact', 'trusted'])

const labels = {
  tags: Type.Optional(
    Type.Array(Type.String(), { description: 'Up to 20, each 1 to 64 of A-Z a-z 0-9 . _ ~ : @ + = / -' }),
  ),
  owner: Type.Optional(Type.String({ description: 'Whom to ask; up to 256 characters' })),
  description: Type.Optional(Type.String({ description: 'Up to 2,000 characters' })),
}
const share = Type.Optional(
  Type.Number({ description: 'Of the customers, 0 to 1; only of strategies that split them' }),
)
const waveState = oneOf(WAVE_STATES, 'How far a wave is open')
const WaveNow = Type.Object(
  {
    state: waveState,
    share,
    nextStep: Type.Optional(
      Type.Object(
        { at: isoTime, turn: oneOf(WAVE_TURNS), share },
        { ...closed, description: 'When the wave next admits others, and why' },
      ),
    ),
  },
  { ...closed, description: 'Of a wave: where it stands at the time of the answer' },
)

export const WaveConfig = Type.Unsafe<Rule>(WAVE_SCHEMA)

export const listSettings = {
  name: Type.String(),
  type: listType,
  config: Type.Optional(WaveConfig),
  precision: Type.Optional(precision),
  ...labels,
}
const NewAllowlist = Type.Object({ id: Type.Optional(listId), ...listSettings }, closed)

const AllowlistChange = Type.Object(
  { name: Type.Optional(Type.String()), config: Type.Optional(WaveConfig), ...labels },
  { ...closed, description: 'Fields that are absent stay; an empty label clears the label' },
)

const ListSetChange = Type.Object(
  {
    id: listId,
    ifVersion: Type.Optional(
      Type.Integer({ description: 'The version that the list must have; absent: there must be none' }),
    ),
    list: Type.Optional(Type.Object(listSettings, { ...closed, description: 'Absent: the list is deleted' })),
  },
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
    wave: Type.Optional(WaveNow),
    precision,
    customerCount: count,
    version: Type.Integer({ description: 'Counts changes of name, config and labels; also the ETag' }),
    shardCount: Type.Integer(),
    ...labels,
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
    reach: listAndRule,
    body: NewAllowlist,
    // A wave may name many customers.
    hasLargeBody: true,
    answers: { 201: ['The new allowlist', shared(Allowlist)] },
  },
  listAllowlists: {
    route: 'GET /allowlists',
    summary: 'List the allowlists, or search and sort them',
    scope: 'read',
    reach: 'filtered',
    query: {
      ...page,
      search: Type.Optional(
        Type.String({ description: 'Part of an id, a name, an owner or a tag, in any case' }),
      ),
      prefix: Type.Optional(Type.String({ description: 'Beginning of an id or a name, in any case' })),
      tag: Type.Optional(Type.String({ description: 'Lists that have this tag' })),
      owner: Type.Optional(Type.String({ description: 'Lists of this owner' })),
      type: Type.Optional(listType),
      state: Type.Optional(waveState),
      nextStepBefore: Type.Optional(
        Type.String({ description: 'ISO 8601: waves whose next step comes before then' }),
      ),
      sort: Type.Optional(oneOf(LIST_SORTS, 'By id when absent')),
      order: Type.Optional(oneOf(['asc', 'desc'])),
    },
    answers: { 200: ['A page of allowlists', AllowlistPage] },
  },
  getAllowlist: {
    route: 'GET /allowlists/:id',
    summary: 'Read an allowlist',
    scope: 'read',
    reach: listInPath,
    params,
    answers: { 200: ['The allowlist', shared(Allowlist)] },
  },
  listUses: {
    route: 'GET /allowlists/:id/used-by',
    summary: 'List the waves whose base or exclusion an allowlist is',
    scope: 'read',
    reach: listInPath,
    params,
    answers: {
      200: [
        'By id of the wave',
        Type.Object(
          {
            items: Type.Array(
              Type.Object(
                { allowlistId: listId, name: Type.String(), as: oneOf(['base', 'exclude']) },
                closed,
              ),
            ),
          },
          closed,
        ),
      ],
    },
  },
  updateAllowlist: {
    route: 'PATCH /allowlists/:id',
    summary:
      'Change the name, the config or the labels of an allowlist; with `If-Match`, only if its version is still the given one',
    scope: 'admin',
    reach: listAndRule,
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
    reach: listInPath,
    params,
    answers: { 200: ['The paused wave', shared(Allowlist)] },
  },
  resumeAllowlist: {
    route: 'POST /allowlists/:id/resume',
    summary:
      'Resume a paused wave with the rule that it had; with `shift`, its later steps move by the time paused',
    scope: 'admin',
    reach: listInPath,
    params,
    headers: ifMatch,
    body: Type.Object(
      {
        shift: Type.Optional(
          Type.Boolean({ description: 'Move steps of the ramp that lie after the pause by its length' }),
        ),
      },
      closed,
    ),
    bodyMayBeAbsent: true,
    answers: { 200: ['The resumed wave', shared(Allowlist)] },
  },
  deleteAllowlist: {
    route: 'DELETE /allowlists/:id',
    summary: 'Delete an allowlist',
    scope: 'admin',
    reach: listInPath,
    params,
    answers: { 204: 'Deleted' },
  },
  changeAllowlists: {
    route: 'POST /allowlists/changes',
    summary: 'Create, change and delete many allowlists: all of them, or none',
    scope: 'admin',
    reach: listsInChanges,
    body: changesOf(ListSetChange),
    hasLargeBody: true,
    answers: { 200: ['How many were changed', Changed] },
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
    reach: listInPath,
    params,
    answers: { 200: ['The index as this process knows it', IndexStatus] },
  },
  rebuildIndex: {
    route: 'POST /allowlists/:id/rebuild',
    summary: 'Rebuild the membership index',
    scope: 'admin',
    reach: listInPath,
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
    reach: listInPath,
    params,
    answers: { 200: ['Its shards', ReshardStatus] },
  },
  reshardAllowlist: {
    route: 'POST /allowlists/:id/reshard',
    summary: 'Move an allowlist to another number of shards, while checks continue',
    scope: 'admin',
    reach: listInPath,
    params,
    body: Type.Object({ shards: Type.Integer() }, closed),
    answers: {
      200: ['The allowlist has this number of shards already', ReshardStatus],
      202: ['The move has started', ReshardStatus],
    },
  },
})
