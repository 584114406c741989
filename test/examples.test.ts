import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CREDENTIALS_ENV, startDynamo } from './support/dynamodb-server.js'
import { type RedisServers, startSingle } from './support/redis/index.js'
import { temporaryDirectory } from './support/temporary.js'

const folder = new URL('../../examples/', import.meta.url)
const TIMEOUT_MS = 60_000

/** Everything that each example prints, line by line. */
const EXPECTED: Record<string, (string | RegExp)[]> = {
  'first-list.mjs': [
    'alice: may pass (MEMBER)',
    'bob: may not pass (MEMBER_EXPIRED)',
    'carol: may not pass (NOT_MEMBER)',
    'both lists: MEMBER, ALLOWLIST_NOT_FOUND',
    'alice removed: true, 1 left',
  ],
  // The salt is drawn anew each time. These bounds are more than six deviations wide.
  'wave.mjs': [
    'day 0: 0 of 1000 are in; everybody who was in stayed: true',
    /^day 1: (3[5-9]|[4-9]\d|1[0-6]\d) of 1000 are in; everybody who was in stayed: true$/,
    /^day 2: [4-5]\d\d of 1000 are in; everybody who was in stayed: true$/,
    'day 3: 999 of 1000 are in; everybody who was in stayed: true',
    'customer-0: EXCLUDED',
  ],
  'import-stream.mjs': [
    'add: 20000 added, 1 unchanged, 1 rejected',
    /^line 20002: customerId must be /,
    'again: 20000 added, the list holds 20000',
    'replace: 5000 added, 5000 unchanged, 15000 removed',
    'export: 10000 customers',
  ],
  // One stranger in 65,536 has to be looked up: of 2,000, hardly ever more than a few.
  'index.mjs': [
    'before: absent',
    'after: loaded, 1 page, 50000 customers in 124 KB',
    /^strangers: 0 of 2000 may pass; (2000|199\d) certain from memory, \d asked of the store, 0 remembered$/,
    'members: 2000 of 2000 may pass; 0 certain from memory, 2000 asked of the store, 0 remembered',
    'members again: 2000 of 2000 may pass; 0 certain from memory, 0 asked of the store, 2000 remembered',
    'changed: 1 of 2 may pass; 2 certain from memory, 0 asked of the store, 0 remembered',
    'changed since the build: 2',
  ],
  'idempotency.mjs': [
    'first: executed, sent 1 time(s)',
    'again: replayed, sent 1 time(s)',
    'other request, same key: refused (IDEMPOTENCY_KEY_REUSED)',
    'failed: queue manager is down, attempt 1',
    'retried: attempt 2 went through',
    'at once: executed,replayed, the same answer: true',
    'record: PRODUCE#order-2 COMPLETED after 2 attempts',
  ],
  'idempotent-consumer.mjs': [
    'm-1: ack, done, balance 10',
    'm-2: again in 1000 ms (failed: ledger is down)',
    'm-1: ack, done before, balance 10',
    'm-2: ack, done, balance 5',
    'm-1: to the dead letters (other-request)',
    'balances: ann 10, bob 5',
  ],
  'limits.mjs': [
    'user-1: 200 tokens and 2 requests left',
    'again: tpm is used up, 12000 ms to wait',
    'corrected: true, 300 tokens left',
    'premium-1: 1000 of 9000 tokens left',
    'a minute later: 1000 tokens, 3 requests',
    'capacity comes from entity, the period from system',
  ],
  'one-time-codes.mjs': [
    'send 6 digits, good until 2030-01-01T00:10:00.000Z',
    'asked again at once: false, come back in 60000 ms',
    'typed right: {"valid":true}',
    'a second time: {"valid":false,"reason":"INVALID"}',
    'after ten failures, also the right one: {"valid":false,"reason":"LOCKED"}',
  ],
  'revoked-tokens.mjs': [
    'logged in: 200 hello ann',
    'forged: 401 not a token of ours',
    'the laptop, logged out: 401 TOKEN_REVOKED',
    'the phone: 200 hello ann',
    'the phone, after a new password: 401 TOKEN_REVOKED',
    'logged in again: 200 hello ann',
    /^answered without asking the store: \d of 5$/,
  ],
  'lock-fence.mjs': [
    'somebody else meanwhile: held',
    'the second fence is higher: true',
    'second: wrote CONFIRMED',
    'first, too late: refused CANCELLED: a newer holder was here',
    'the claim is CONFIRMED',
    'first gives back: false',
    'both held, wrote SETTLED',
  ],
  'pods-on-redis.mjs': [
    'imported: 1000 customers',
    'with the token: MEMBER',
    'without: the other pod follows by itself',
    /^strangers answered without asking Redis: (100|9[89])$/,
  ],
  'pods-on-dynamodb.mjs': [
    'tables: allowlists, giant, idempotency, guards',
    'imported: 200 customers',
    'with the token: MEMBER',
    'without: the other pod follows by itself',
    /^strangers answered without asking DynamoDB: (100|9[89])$/,
  ],
  'http-service.mjs': [
    'create: 201, version 1',
    'add: 201, 1 customer',
    'check: 200, MEMBER',
    'without key: 401 UNAUTHENTICATED',
    'with key: 200',
    'other scope: FORBIDDEN',
  ],
}

describe('examples', async () => {
  const dynamo = await startDynamo()
  const directory = temporaryDirectory()
  let redis: RedisServers
  before(async () => {
    redis = await startSingle()
  })
  after(() => redis.stop())
  /** What an example is given on its command line. */
  const given: Record<string, () => string[]> = {
    'pods-on-redis.mjs': () => [redis.storeUrl],
    'pods-on-dynamodb.mjs': () => [dynamo.url(dynamo.names())],
  }
  // The SDK of AWS warns of later versions of Node.
  const env = {
    ...process.env,
    ...CREDENTIALS_ENV,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  }

  it('are all listed here', () => {
    const programs = readdirSync(folder).filter((name) => name.endsWith('.mjs'))
    assert.deepEqual(programs.sort(), Object.keys(EXPECTED).sort())
  })

  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`${name} shows what it promises, and ends`, async () => {
      const program = fileURLToPath(new URL(name, folder))
      const options = { cwd: directory, env, timeout: TIMEOUT_MS }
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        [program, ...(given[name]?.() ?? [])],
        options,
      )
      assert.equal(stderr, '')
      const lines = stdout.trimEnd().split('\n')
      assert.equal(lines.length, expected.length, stdout)
      for (const [i, line] of expected.entries()) {
        if (typeof line === 'string') assert.equal(lines[i], line)
        else assert.match(lines[i]!, line)
      }
      assert.deepEqual(readdirSync(directory), [], 'nothing is left behind')
    })
  }
})
