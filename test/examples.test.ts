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
  'recipes/express-api.mjs': [
    'search: 200, "perHour";q=2;w=3600',
    'a deep one: 429 too many searches',
    'pay {"amount":10}: 201 10',
    'pay {"amount":10}: 201 10, replayed',
    'pay {"amount":99}: 422 IDEMPOTENCY_KEY_REUSED',
    'health: not limited',
  ],
  'recipes/fastify-api.mjs': [
    'reports for ann: 200 {"rows":3}, 0 left',
    'reports for ann: 429 QUOTA_EXCEEDED, 0 left',
    'reports for bob: 200 {"rows":3}, 0 left',
    'payment of ann: 201 {"paid":10,"at":1}',
    'payment of ann: 201 {"paid":10,"at":1}, replayed',
    'payment of bob: 201 {"paid":10,"at":2}',
  ],
  'recipes/queue-consumer.mjs': [
    'm-1: ack',
    'm-1: ack, done before',
    'm-2: redeliver (failed)',
    'm-3: redeliver (QUOTA_EXCEEDED)',
    'm-3: ack',
    'm-2: reject (attempts)',
    'm-1: reject (other-request)',
    'sent to: ann, bob',
  ],
  'recipes/scheduled-job.mjs': [
    '1 pod did the work',
    'pod-4: 2030-01-01 is closed already',
    'pod-1: closed 2030-01-02',
    'closed: 2030-01-01, 2030-01-02',
  ],
  'recipes/pix-transfer.mjs': [
    'ann sends: {"status":201,"balance":10000,"replayed":false}',
    'ann sends again, after a timeout: {"status":201,"balance":10000,"replayed":true}',
    'the same key, another amount: {"status":422,"why":"other-request"}',
    'more than she has: {"status":422,"why":"not enough money","replayed":false}',
    'more than a day allows: {"status":429,"why":"amount"}',
    'bob has a limit of his own: {"status":201,"balance":500000,"replayed":false}',
    'carol is not in the beta: {"status":403}',
    'a smaller one, two days later, under the key that was denied: {"status":201,"balance":0,"replayed":false}',
  ],
  'recipes/dict-client.mjs': [
    'created: executed, again: replayed',
    'found: e-1, calls of the Bridge: 0',
    '50 at once, after it expired: 1 answer, calls of the Bridge: 1',
    'nobody has that key: none',
    'a third look-up in this minute: QUOTA_EXCEEDED',
    'the Bridge is down: e-1, as it was a while ago',
  ],
  'recipes/login-codes.mjs': [
    'asked for a code: 202 if we know you, a code is on its way',
    'asked again at once: 202 if we know you, a code is on its way, the same code: true',
    'signed in: 200 s-1',
    'a second time: 401 INVALID',
    'guesses from many clients: 401 INVALID, then 401 LOCKED',
    'one client, many addresses: 401 INVALID, then 429 QUOTA_EXCEEDED',
  ],
  'recipes/jwt-middleware.mjs': [
    'signed in: 200 ann',
    'forged: 401 not a token of ours',
    'logout of the laptop: 204',
    'the laptop: 401 TOKEN_REVOKED',
    'the phone: 200 ann',
    'logout everywhere: 204',
    'the tablet: 401 TOKEN_REVOKED',
    'signed in again: 200 ann',
  ],
  // Six deviations from 50 and 250 are far from where one word becomes another.
  'recipes/rollout-steps.mjs': [
    'monday: none of 1000 customers, those before stayed: true, the team: true',
    'tuesday: few of 1000 customers, those before stayed: true, the team: true',
    'wednesday: some of 1000 customers, those before stayed: true, the team: true',
    'paused: 0 customers',
    'resumed: some of 1000 customers, those before stayed: true, the team: true',
    'thursday: all of 1000 customers, those before stayed: true, the team: true',
  ],
  'recipes/multi-tenant-limits.mjs': [
    'acme:ann: ok ok ok 429 (user)',
    'acme:bob: ok 429 (tenant)',
    'globex:cid: ok ok ok',
    'globex:dee: ok ok 429 (tenant)',
    'acme:bob: ok',
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
    const recipes = readdirSync(new URL('recipes/', folder)).map((name) => `recipes/${name}`)
    const programs = [...readdirSync(folder), ...recipes].filter((name) => name.endsWith('.mjs'))
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
