import { IMPORT_MODES, type JsonObject } from '../../guards/allowlist/types.js'
import { closed, count, isoTime, oneOf, page, pageOf, shared, shortLimit, yesOrNo } from '../common.js'
import { operations } from '../operation.js'
import { listInPath } from '../reach.js'
import { Type } from '../typebox.js'
import { listId } from './lists.js'

export const customerId = Type.String({ description: 'Id of a customer; UUIDs in any case' })
const params = { id: listId, customerId }

const attributes = {
  addedBy: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })),
  expiresAt: Type.Optional(isoTime),
}
export const Member = Type.Object(
  { customerId, addedAt: isoTime, ...attributes },
  { $id: 'Member', ...closed },
)

const CustomerAllowlist = Type.Object(
  { allowlistId: listId, name: Type.String(), addedAt: isoTime, expiresAt: Type.Optional(isoTime) },
  closed,
)

const token = Type.String({ description: 'Pass it as `atLeast` to see this write' })
const AddResult = Type.Object({ added: Type.Boolean(), customerCount: count, token }, closed)
const RemoveResult = Type.Object({ removed: Type.Boolean(), customerCount: count, token }, closed)

export const MEMBERS = operations('members', {
  addMember: {
    route: 'PUT /allowlists/:id/customers/:customerId',
    summary: 'Add a customer, or replace the attributes of a member',
    scope: 'admin',
    reach: listInPath,
    params,
    body: Type.Object(attributes, closed),
    bodyMayBeAbsent: true,
    answers: { 200: ['Was already a member', AddResult], 201: ['Added', AddResult] },
  },
  removeMember: {
    route: 'DELETE /allowlists/:id/customers/:customerId',
    summary: 'Remove a customer',
    scope: 'admin',
    reach: listInPath,
    params,
    answers: { 200: ['Removed, or was not a member', RemoveResult] },
  },
  getMember: {
    route: 'GET /allowlists/:id/customers/:customerId',
    summary: 'Read a member',
    scope: 'read',
    reach: listInPath,
    params,
    answers: { 200: ['The member', shared(Member)] },
  },
  listMembers: {
    route: 'GET /allowlists/:id/customers',
    summary: 'List the members of an allowlist',
    scope: 'read',
    reach: listInPath,
    params: { id: listId },
    query: {
      ...page,
      prefix: Type.Optional(
        Type.String({
          description:
            'Beginning of the customer id; UUIDs are in lower case. On Redis a page may then be short or empty although `nextCursor` says that there is more',
        }),
      ),
    },
    answers: { 200: ['A page of members', pageOf(shared(Member))] },
  },
  listAllowlistsOfCustomer: {
    route: 'GET /customers/:customerId/allowlists',
    summary: 'List the FIXA allowlists that a customer is on',
    scope: 'read',
    reach: 'filtered',
    params: { customerId },
    query: page,
    answers: { 200: ['A page of allowlists', pageOf(CustomerAllowlist)] },
  },
})

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

export const ImportResult = Type.Object(
  { importId: Type.String(), ...importCounts, customerCount: count, token },
  { $id: 'ImportResult', ...closed },
)

export const ImportStatus = Type.Object(
  {
    importId: Type.String(),
    allowlistId: listId,
    mode: oneOf(IMPORT_MODES),
    state: oneOf(['running', 'completed', 'interrupted', 'failed']),
    rowsAcknowledged: count,
    ...importCounts,
    startedAt: isoTime,
    updatedAt: isoTime,
    error: Type.Optional(Type.String()),
  },
  { $id: 'ImportStatus', ...closed },
)

const ImportAccepted = Type.Object({ importId: Type.String(), status: oneOf(['running']) }, closed)

export const IMPORTS = operations('import and export', {
  importMembers: {
    route: 'POST /allowlists/:id/import',
    summary: 'Add, replace or remove customers from CSV, NDJSON or one id per line, also gzip, of any size',
    scope: 'admin',
    reach: listInPath,
    params: { id: listId },
    query: {
      mode: Type.Optional(
        oneOf(IMPORT_MODES, '`add` when absent; `remove` removes the customers of the input'),
      ),
      importId: Type.Optional(Type.String({ description: 'Id of the import; the same id resumes it' })),
      addedBy: Type.Optional(
        Type.String({ description: 'Who added the customers, for rows without that field' }),
      ),
      column: Type.Optional(
        Type.String({
          description: 'CSV only: the column with the ids, by its heading or its number from 1',
        }),
      ),
      format: Type.Optional(
        oneOf(['csv', 'ndjson', 'text'], 'Format of the rows, when the content type does not say it'),
      ),
      maxErrors: Type.Optional(
        Type.Integer({
          description: 'How many rejected rows the result lists: up to 1,000; 100 when absent',
        }),
      ),
      async: yesOrNo('Respond as soon as the body is received'),
    },
    consumes: [
      'text/csv',
      'application/x-ndjson',
      'application/ndjson',
      'application/jsonl',
      'text/plain',
      'application/gzip',
    ],
    answers: {
      200: ['Imported', shared(ImportResult)],
      202: ['Received; `Location` has the status of the import', ImportAccepted],
    },
  },
})

export const IMPORT_STATUS = operations('import and export', {
  listImports: {
    route: 'GET /allowlists/:id/imports',
    summary: 'List the imports of the last 7 days with their results',
    scope: 'read',
    reach: listInPath,
    params: { id: listId },
    query: { limit: shortLimit },
    answers: {
      200: ['The latest first', Type.Object({ items: Type.Array(shared(ImportStatus)) }, closed)],
    },
  },
  getImport: {
    route: 'GET /allowlists/:id/imports/:importId',
    summary: 'Read the status of an import',
    scope: 'read',
    reach: listInPath,
    params: { id: listId, importId: Type.String() },
    answers: { 200: ['Its state', shared(ImportStatus)] },
  },
})

export const SAMPLES = operations('members', {
  sampleWave: {
    route: 'GET /allowlists/:id/sample',
    summary: 'Name some customers who pass a wave now, from its base list',
    scope: 'read',
    // The handler looks at the base list too.
    reach: listInPath,
    params: { id: listId },
    query: { limit: shortLimit },
    answers: {
      200: [
        'Some who pass',
        Type.Object(
          {
            items: Type.Array(Type.Object({ customerId }, closed)),
            examined: Type.Integer({ description: 'Members of the base that were looked at' }),
            more: Type.Boolean({ description: 'Whether there may be others' }),
          },
          closed,
        ),
      ],
    },
  },
})

export const EXPORTS = operations('import and export', {
  exportMembers: {
    route: 'GET /allowlists/:id/export',
    summary: 'Export the members, or those of its base who pass a wave now, in the format asked by `Accept`',
    scope: 'admin',
    reach: listInPath,
    params: { id: listId },
    query: {
      spreadsheet: yesOrNo(
        'CSV for spreadsheets: a cell that looks like a formula gets an apostrophe in front',
      ),
    },
    // The first one is the default.
    answers: { 200: ['The members, as a stream', ['text/csv', 'application/x-ndjson', 'text/plain']] },
  },
})
