import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { command, type Ended, type Served, scratch, serve } from './run.js'

/** Windows of a year, so that no command sees another one than the command before. */
const LIMITS = JSON.stringify({
  rpm: { capacity: 5, refillPeriodSeconds: 31_536_000, algorithm: 'fixed-window' },
  tpm: { capacity: 10, refillPeriodSeconds: 31_536_000, algorithm: 'fixed-window', mode: 'enforce' },
})
const CAPACITY = '{"rpm":{"capacity":7}}'
const PLAN = `system:
  gpt-4: { limits: { rpm: { capacity: 6, refillPeriodSeconds: 60 } }, onUnavailable: allow }
resources:
  gpt-4:
    limits:
      tpm: { burst: 20 }
entities:
  ann:1:
    gpt-4: null
  bob: {}
`

/** Commands in order; each is run on a store opened by the command itself, and on a server over a store. */
const SCRIPT: string[][] = [
  ['allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA'],
  ['allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA', '--json'],
  ['allowlist', 'create', '--id', 'w', '--name', 'Wave', '--type', 'ONDA', '--percentage', '25%', '--json'],
  ['allowlist', 'create', '--id', 'x', '--name', 'X', '--type', 'ONDA', '--base', 'no', '--percentage', '1'],
  ['allowlist', 'list'],
  ['allowlist', 'list', '--limit', '1', '--json'],
  ['allowlist', 'add', 'vip', 'ann', '--added-by', 'me', '--metadata', '{"a":[1]}', '--json'],
  ['allowlist', 'add', 'vip', 'ann', '--expires-at', '2099-01-01T00:00:00Z'],
  ['allowlist', 'add', 'vip', 'a/b'],
  ['allowlist', 'member', 'vip', 'ann'],
  ['allowlist', 'import', 'vip', 'ids.csv', '--no-progress'],
  ['allowlist', 'import', 'vip', 'ids.csv', '--import-id', 'one', '--mode', 'replace', '--no-progress'],
  [
    'allowlist',
    'import',
    'vip',
    'ids.ndjson.gz',
    '--import-id',
    'two',
    '--mode',
    'replace',
    '--no-progress',
    '--json',
  ],
  ['allowlist', 'import-status', 'vip', 'one'],
  ['allowlist', 'import-status', 'vip', 'two', '--json'],
  ['allowlist', 'members', 'vip'],
  ['allowlist', 'lists-of', 'ann'],
  ['allowlist', 'export', 'vip'],
  ['allowlist', 'export', 'vip', '--json'],
  ['check', 'ann', '--allowlists', 'vip,no', '--json'],
  ['check', 'ann', 'bob', '--allowlists', 'vip', '--consistency', 'strong', '--exit-code'],
  ['check', 'ann', '--allowlists', 'vip', '--at-least', 'nonsense'],
  ['allowlist', 'ramp', 'w', '--to', '0.5'],
  [
    'allowlist',
    'ramp',
    'w',
    '--step',
    '2099-01-01T00:00:00Z=0.75',
    '--step',
    '2099-02-01T00:00:00Z=1',
    '--json',
  ],
  ['allowlist', 'ramp', 'w', '--clear', '--json'],
  ['allowlist', 'ramp', 'w', '--pause', '--json'],
  ['allowlist', 'ramp', 'vip', '--pause'],
  ['allowlist', 'pause', 'w'],
  ['allowlist', 'resume', 'w', '--if-version', '1'],
  ['allowlist', 'resume', 'w', '--json'],
  ['allowlist', 'resume', 'w'],
  ['allowlist', 'update', 'w', '--name', 'Onda ∿', '--if-version', '5'],
  ['allowlist', 'update', 'w', '--name', 'Again', '--if-version', '5', '--json'],
  ['allowlist', 'remove', 'vip', 'ann'],
  ['allowlist', 'delete', 'w'],
  ['allowlist', 'delete', 'w', '--yes'],
  ['allowlist', 'get', 'w', '--json'],
  ['config', 'get', '--level', 'system', '--resource', 'gpt-4'],
  [
    'config',
    'set',
    '--level',
    'system',
    '--resource',
    'gpt-4',
    '--limits',
    LIMITS,
    '--on-unavailable',
    'block',
  ],
  [
    'config',
    'set',
    '--level',
    'entity',
    '--identifier',
    'ann:1',
    '--resource',
    'gpt-4',
    '--limits',
    CAPACITY,
  ],
  ['config', 'set', '--level', 'entity', '--resource', 'gpt-4', '--limits', CAPACITY],
  ['config', 'set', '--level', 'system', '--resource', 'gpt-4', '--limits', '{"rpm":{"speed":1}}', '--json'],
  ['config', 'get', '--level', 'system', '--resource', 'gpt-4'],
  ['config', 'get', '--level', 'entity', '--identifier', 'ann:1', '--resource', 'gpt-4', '--json'],
  ['config', 'resolve', '--identifier', 'ann:1', '--resource', 'gpt-4'],
  ['config', 'resolve', '--identifier', 'ann:1', '--resource', 'gpt-4', '--json'],
  ['allowlist', 'list', '--search', 'VIP', '--sort', 'name', '--order', 'desc', '--json'],
  ['allowlist', 'list', '--search', 'nothing', '--type', 'ONDA'],
  ['limits', 'status', '--entity', 'ann:1', '--resource', 'gpt-4'],
  ['limits', 'acquire', '--entity', 'ann:1', '--resource', 'gpt-4', '--json'],
  ['limits', 'acquire', '--entity', 'ann:1', '--resource', 'gpt-4', '--consume', 'rpm=0,tpm=3'],
  ['limits', 'acquire', '--entity', 'ann:1', '--resource', 'gpt-4', '--consume', 'tpm=9', '--exit-code'],
  ['limits', 'acquire', '--entity', 'ann:1', '--resource', 'gpt-4', '--consume', 'nope=1', '--json'],
  ['limits', 'acquire', '--entity', 'ann:1', '--resource', 'none'],
  ['limits', 'usage', '--entity', 'ann:1', '--resource', 'gpt-4', '--step', 'day'],
  ['limits', 'usage', '--entity', 'ann:1', '--resource', 'gpt-4', '--step', 'week'],
  ['limits', 'reset', '--entity', 'ann:1', '--resource', 'gpt-4', '--json'],
  ['config', 'set', '--level', 'system', '--all-resources', '--limits', CAPACITY],
  ['config', 'set', '--level', 'resource', '--all-resources', '--limits', CAPACITY],
  ['config', 'set', '--level', 'system', '--resource', '_default_', '--limits', CAPACITY],
  ['config', 'resolve', '--resource', 'unheard-of'],
  [
    'config',
    'set',
    '--level',
    'resource',
    '--resource',
    'gpt-4',
    '--limits',
    '{"rpm":{"capacity":2}}',
    '--json',
  ],
  ['config', 'get', '--level', 'entity', '--entity', 'ann:1', '--resource', 'gpt-4', '--json'],
  ['limits', 'usage', '--resource', 'gpt-4', '--json'],
  ['config', 'capped'],
  ['config', 'capped', '--json'],
  ['config', 'plan', 'limits.yaml'],
  ['config', 'apply', 'limits.yaml'],
  ['config', 'plan', 'limits.yaml', '--json'],
  ['config', 'plan', 'wrong.yaml'],
  ['config', 'list', '--level', 'entity'],
  ['config', 'list', '--level', 'entity', '--resource', 'gpt-4', '--limit', '1', '--json'],
  ['config', 'list', '--level', 'system', '--cursor', 'x'],
  ['config', 'plan', 'limits.yaml', '--prune'],
  ['config', 'apply', 'limits.yaml', '--prune', '--json'],
  ['config', 'list', '--level', 'entity', '--json'],
  ['config', 'plan', 'limits.yaml', '--prune', '--json'],
  ['config', 'get', '--level', 'resource', '--resource', 'gpt-4', '--json'],
  ['config', 'delete', '--level', 'resource', '--resource', 'gpt-4'],
  ['config', 'delete', '--level', 'resource', '--resource', 'gpt-4'],
  ['idempotency', 'get', 'PRODUCE', 'none'],
  ['idempotency', 'get', 'PRODUCE', '..', '--json'],
  ['idempotency', 'delete', 'PRODUCE', 'none', '--json'],
]

/** What differs between two runs and says nothing: times, tokens. */
function comparable({ code, stdout, stderr }: Ended): object {
  const same = (text: string) =>
    text
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
      .replace(/"token": "[^"]+"/g, '"token": "TOKEN"')
      .replace(/(lease |"leaseId": ")[\w-]+/g, '$1LEASE')
      .replace(/(?<=: | {2}|again in )\d{6,}(?= ms|,?$)/gm, '0')
  return { code, stdout: parsed(same(stdout)), stderr: parsed(same(stderr)) }
}

/** The order of the fields of a JSON object says nothing either. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

describe('the same answers from a store and from a server', () => {
  const dir = scratch()
  let server: Served
  before(async () => {
    writeFileSync(dir.file('ids.csv'), 'customerId,addedBy\nann,me\nbob,me\nbad id,me\nbob,you\n')
    writeFileSync(dir.file('limits.yaml'), PLAN)
    writeFileSync(dir.file('wrong.yaml'), 'system:\n  gpt-4: { limits: { rpm: { capacity: -1 } } }\n')
    const { gzipSync } = await import('node:zlib')
    writeFileSync(dir.file('ids.ndjson.gz'), gzipSync('"ann"\n{"customerId":"cid","metadata":{"n":1}}\n'))
    server = await serve(['--store', 'memory:'])
  })
  after(async () => {
    const { code } = await server.stop()
    dir.remove()
    assert.equal(code, 0)
  })
  const onStore = (args: string[]) => command([...args, '--store', 'embedded:./data'], { cwd: dir.path })
  const onServer = (args: string[]) => command(args, { cwd: dir.path, env: { CATRACA_URL: server.url } })

  for (const args of SCRIPT) {
    it(args.join(' ').slice(0, 100), async () => {
      const [byStore, byServer] = await Promise.all([onStore(args), onServer(args)])
      assert.deepEqual(comparable(byServer), comparable(byStore))
      assert.ok([0, 1, 2, 3].includes(byStore.code ?? -1), `code ${byStore.code}`)
      assert.doesNotMatch(byStore.stderr, /unexpected failure|\bat .*:\d+:\d+/)
    })
  }

  it('sweeps what it deletes in a store, unless told not to wait', async () => {
    const create = ['allowlist', 'create', '--id', 'again', '--name', 'A', '--type', 'FIXA']
    const remove = ['allowlist', 'delete', 'again', '--yes']
    for (const args of [create, ['allowlist', 'add', 'again', 'ann'], remove, create]) {
      const { code, stderr } = await onStore(args)
      assert.equal(code, 0, stderr)
    }
    assert.equal((await onStore([...remove, '--no-wait'])).code, 0)
    const { code, stderr } = await onStore([...create, '--json'])
    assert.deepEqual([code, JSON.parse(stderr).code], [1, 'ALLOWLIST_BEING_DELETED'])
  })

  it('exports into files, compressed when so named, and never half', async () => {
    for (const run of [onStore, onServer]) {
      const { code } = await run(['allowlist', 'export', 'vip', '-o', 'out.txt.gz'])
      assert.equal(code, 0)
      assert.equal(gunzipSync(readFileSync(dir.file('out.txt.gz'))).toString(), 'cid\n')
      const missing = await run(['allowlist', 'export', 'no', '-o', 'none.csv'])
      assert.equal(missing.code, 1)
      assert.throws(() => readFileSync(dir.file('none.csv')), { code: 'ENOENT' })
      const nowhere = await run(['allowlist', 'export', 'vip', '-o', 'no/dir.csv'])
      assert.deepEqual([nowhere.code, nowhere.stderr], [1, 'catraca: cannot write no/dir.csv (ENOENT)\n'])
    }
  })
})
