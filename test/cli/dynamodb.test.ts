import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CreateTableCommand, DeleteTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { createTableInput } from '../../src/engines/dynamodb/tables/create-table-input.js'
import { TABLE_ROLES, TABLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../support/dynamodb-server.js'
import { inTime } from '../support/in-time.js'
import { command, serve } from './run.js'

const server = await startDynamo('dynoxide')
const { sdk } = server.client()
const run = (args: string[]) => command(['dynamodb', ...args], { env: CREDENTIALS_ENV })

describe('catraca dynamodb', () => {
  const names = server.names()
  const store = ['--store', server.url(names)]

  it('verify names the tables that are missing, with 1', async () => {
    const { code, stdout } = await run(['verify', ...store])
    assert.equal(code, 1)
    const expected = TABLE_ROLES.map((role) => `${names[role]}: table must be present, is missing\n`)
    assert.equal(stdout, expected.join(''))
  })

  it('create makes them, and once more finds them there', async () => {
    const first = await run(['create', '--json', ...store])
    assert.equal(first.code, 0, first.stderr)
    assert.deepEqual(JSON.parse(first.stdout), {
      tables: TABLE_ROLES.map((role) => ({ role, table: names[role], created: true, turnedOn: [] })),
      differences: [],
    })
    const again = await run(['create', ...store])
    assert.equal(again.code, 0)
    assert.match(again.stdout, /allowlists +Allowlists-\S+ +was there/)
  })

  it('verify finds nothing then, with 0', async () => {
    const plain = await run(['verify', ...store])
    assert.deepEqual([plain.code, plain.stdout], [0, 'the tables are as expected\n'])
    const json = await run(['verify', '--json', ...store])
    assert.deepEqual([json.code, JSON.parse(json.stdout)], [0, { ok: true, differences: [] }])
  })

  it('describe shows them', async () => {
    const plain = await run(['describe', ...store])
    assert.equal(plain.code, 0)
    assert.match(plain.stdout, /ACTIVE +PK S, SK S +CustomerAllowlistIndex +NEW_AND_OLD_IMAGES +expiresAt/)
    const json = JSON.parse((await run(['describe', '--json', '--tables', 'idempotency', ...store])).stdout)
    assert.deepEqual(
      json.tables.map(({ name, keys }: { name: string; keys: string[] }) => [name, keys]),
      [[names.idempotency, ['pk S']]],
    )
  })

  it('takes only the tables that are asked for', async () => {
    const other = server.names()
    const { code } = await run(['create', '--tables', 'guards', '--store', server.url(other)])
    assert.equal(code, 0)
    const json = JSON.parse((await run(['verify', '--json', '--store', server.url(other)])).stdout)
    const missing = json.differences.map(({ role }: { role: string }) => role)
    assert.deepEqual(missing, ['allowlists', 'giant', 'idempotency'])
  })

  it('create fails with 1 when a table is in the way, and names what is wrong with it', async () => {
    const other = server.names()
    await sdk.send(new CreateTableCommand(createTableInput(TABLES.idempotency, other.allowlists)))
    const { code, stderr } = await run(['create', '--tables', 'allowlists', '--store', server.url(other)])
    assert.equal(code, 1)
    assert.match(stderr, /keys must be PK S, SK S, is pk S/)
    await sdk.send(new DeleteTableCommand({ TableName: other.allowlists }))
  })

  it('refuses other stores and unknown tables as wrong usage', async () => {
    const memory = await run(['create', '--store', 'memory:'])
    assert.deepEqual([memory.code, /dynamodb:\/\//.test(memory.stderr)], [2, true])
    const unknown = await run(['verify', '--tables', 'guards,nothing', ...store])
    assert.deepEqual([unknown.code, /allowlists, giant/.test(unknown.stderr)], [2, true])
  })

  it('adopt finds the lists of other programs, and says how much it has read', async () => {
    const put = (PK: string, SK: string, type?: string) =>
      sdk.send(
        new PutItemCommand({
          TableName: names.allowlists,
          Item: { PK: { S: PK }, SK: { S: SK }, ...(type !== undefined && { type: { S: type } }) },
        }),
      )
    // Opened once, when it was empty, so that only a look through all of it can find them.
    const first = await run(['adopt', '--json', ...store])
    assert.deepEqual(
      [first.code, JSON.parse(first.stdout)],
      [0, { scanned: 1, lists: 0, unserved: 0, unservedRows: [] }],
    )
    for (const id of ['one', 'two']) await put(`ALLOWLIST#${id}`, 'META', 'FIXA')
    await put('ALLOWLIST#one', 'CUSTOMER#alice')
    const list = () => command(['allowlist', 'list', '--json', ...store], { env: CREDENTIALS_ENV })
    const ids = async () => JSON.parse((await list()).stdout).items.map(({ id }: { id: string }) => id)
    assert.deepEqual(await ids(), [])
    const plain = await run(['adopt', ...store])
    assert.deepEqual([plain.code, plain.stdout], [0, '2 allowlists in 4 items\n'])
    assert.deepEqual(await ids(), ['one', 'two'])
    // With the two entries by which they are paged now.
    const again = await run(['adopt', '--json', ...store])
    const { scanned, lists, unserved } = JSON.parse(again.stdout)
    assert.deepEqual({ scanned, lists, unserved }, { scanned: 6, lists: 2, unserved: 0 })
  })

  it('adopt names every row that no check will find, and doctor does too', async () => {
    const put = (PK: string, SK: string, rest: Record<string, { S: string } | { N: string }> = {}) =>
      sdk.send(
        new PutItemCommand({ TableName: names.allowlists, Item: { PK: { S: PK }, SK: { S: SK }, ...rest } }),
      )
    const FIXA = { type: { S: 'FIXA' } }
    const uuid = '0A0B0C0D-0000-4000-8000-00000000000F'
    await put('ALLOWLIST#wide', 'META', { ...FIXA, shardCount: { N: '10' } })
    await put('ALLOWLIST#odd', 'META', { type: { S: 'OTHER' } })
    await put('ALLOWLIST#a b', 'META', FIXA)
    const unserved: [string, string, string][] = [
      ['ALLOWLIST#one', `CUSTOMER#${uuid}`, 'uuid-case'],
      ['ALLOWLIST#one', 'CUSTOMER#with space', 'customer-id'],
      ['ALLOWLIST#nobody', 'CUSTOMER#ann', 'no-list'],
      ['ALLOWLIST#wide', 'CUSTOMER#ann', 'other-place'],
    ]
    for (const [PK, SK] of unserved) await put(PK, SK)
    // In the giant table, though no list is there.
    for (const [PK, why] of [
      ['ALLOWLIST#orphan', 'no-list'],
      ['ALLOWLIST#one', 'other-place'],
    ] as const) {
      const Item = { PK: { S: PK }, SK: { S: 'CUSTOMER#giant' } }
      await sdk.send(new PutItemCommand({ TableName: names.giant, Item }))
      unserved.push([PK, 'CUSTOMER#giant', why])
    }
    unserved.push(['ALLOWLIST#odd', 'META', 'unreadable-list'], ['ALLOWLIST#a b', 'META', 'list-id'])
    const told = JSON.parse((await run(['adopt', '--json', ...store])).stdout)
    assert.equal(told.unserved, unserved.length)
    const rows = (told.unservedRows as { partition: string; sort: string; why: string }[])
      .map(({ partition, sort, why }) => [partition, sort, why])
      .toSorted()
    assert.deepEqual(rows, unserved.toSorted())
    const { stdout } = await run(['adopt', ...store])
    assert.match(
      stdout,
      new RegExp(`^not found by checks: \\S+ ALLOWLIST#one CUSTOMER#${uuid}: a UUID .* import`, 'm'),
    )
    assert.match(stdout, /^8 rows not found by checks, listed above$/m)
    const doctor = await command(['doctor', '--json', ...store], { env: CREDENTIALS_ENV })
    const findings = JSON.parse(doctor.stdout).findings as { id: string; level: string; found: string }[]
    const named = findings.filter(({ id, level }) => id === 'dynamodb.rows' && level === 'warning')
    assert.ok(
      named.some(({ found }) => found.startsWith(`${names.allowlists} `)),
      doctor.stdout,
    )
    assert.ok(
      named.some(({ found }) => found.startsWith(`${names.giant} ALLOWLIST#orphan `)),
      doctor.stdout,
    )
  })

  it('rows in upper case are served once they were imported again', async () => {
    const uuid = '0A0B0C0D-0000-4000-8000-00000000000F'
    const check = async () =>
      (
        await command(['check', uuid, '--exit-code', '--allowlists', 'one', ...store], {
          env: CREDENTIALS_ENV,
        })
      ).code
    assert.equal(await check(), 3)
    await command(['allowlist', 'add', 'one', uuid, ...store], { env: CREDENTIALS_ENV })
    assert.equal(await check(), 0)
  })

  it('adopt needs the tables, and a store on DynamoDB', async () => {
    const missing = await run(['adopt', '--store', server.url(server.names())])
    assert.deepEqual([missing.code, /catraca dynamodb create/.test(missing.stderr)], [1, true])
    assert.equal((await run(['adopt', '--store', 'memory:'])).code, 2)
  })

  it('fails with 1 when nobody answers', async () => {
    const gone = server.url(names).replace(/127\.0\.0\.1%3A\d+/, '127.0.0.1%3A9')
    const { code, stderr } = await run(['verify', '--store', gone])
    assert.deepEqual([code, /ECONNREFUSED/.test(stderr)], [1, true])
  })

  it('serve stops in time when the store has gone away', async () => {
    const gone = await startDynamo('dynoxide')
    const store = gone.url(gone.names())
    assert.equal((await command(['dynamodb', 'create', '--store', store], { env: CREDENTIALS_ENV })).code, 0)
    const env = { ...CREDENTIALS_ENV, CATRACA_SHUTDOWN_TIMEOUT_MS: '1000' }
    const serving = await serve(['--store', store], { env })
    const body = JSON.stringify({
      limits: { rpm: { capacity: 9, refillAmount: 9, refillPeriodSeconds: 60 } },
    })
    const headers = { 'content-type': 'application/json' }
    const set = await fetch(`${serving.url}/config/system/r`, { method: 'PUT', headers, body })
    assert.equal(set.status, 200)
    const taken = { method: 'POST', headers, body: JSON.stringify({ entity: 'e', resource: 'r' }) }
    assert.equal((await fetch(`${serving.url}/limits/acquire`, taken)).status, 200)
    gone.pause()
    const { code, signal, stdout } = await inTime(serving.stop(), 30_000)
    gone.resume()
    assert.equal(signal, null)
    if (code !== 0) assert.match(stdout, /not closed in time/)
  })
})
