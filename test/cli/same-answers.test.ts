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

const ALL = `lists:
  first: { name: First, precision: trusted }
  vip: { name: VIP 2 }
waves:
  inner: { name: Inner, config: { strategy: EXPLICIT_LIST, customerIds: [ann, bob] } }
  outer: { name: Outer, config: { strategy: PERCENTAGE, percentage: 0.5, base: inner, exclude: [first] } }
system:
  "*": { onUnavailable: allow }
parents:
  ann:1: { parent: org }
  bob: { parent: org, cascade: false }
`
const FILES: Record<string, string> = {
  'all.yaml': ALL,
  'type.yaml': 'lists:\n  outer: { name: X }\n',
  'precision.yaml': 'lists:\n  first: { name: First }\n',
  'gone.yaml': 'lists:\n  vip: null\n',
  'dangling.yaml': 'lists:\n  first: null\n',
  'circle.yaml':
    'waves:\n  inner: { name: Inner, config: { strategy: PERCENTAGE, percentage: 1, base: outer } }\n',
}

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
  ['allowlist', 'members', 'vip', '--prefix', 'a', '--json'],
  ['allowlist', 'remove', 'vip', '--file', 'gone.txt', '--import-id', 'three', '--no-progress', '--json'],
  ['allowlist', 'remove', 'vip'],
  ['allowlist', 'imports', 'vip'],
  ['allowlist', 'imports', 'vip', '--limit', '1', '--json'],
  ['allowlist', 'used-by', 'vip', '--json'],
  ['allowlist', 'sample', 'w'],
  ['explain', 'ann', '--outcome', 'allowed', '--type', 'FIXA'],
  ['explain', 'ann', '--allowlists', 'vip'],
  ['lock', 'list', '--prefix', 'none', '--json'],
  ['lock', 'list', '--limit', '0'],
  ['idempotency', 'list', '--status', 'FAILED', '--older-than-seconds', '5', '--json'],
  ['cache', 'list', 'none'],
  ['limits', 'list', '--prefix', 'none', '--json'],
  ['audit', 'export', '--action', 'nothing'],
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
  ['allowlist', 'pause', 'w', '--reason', 'too many errors é'],
  ['allowlist', 'resume', 'w', '--if-version', '1'],
  ['allowlist', 'update', 'w', '--tags', 'b,a', '--owner', 'ana', '--description', 'x', '--json'],
  ['allowlist', 'list', '--tag', 'a', '--state', 'paused', '--owner', 'ANA', '--json'],
  ['allowlist', 'list', '--prefix', 'w', '--next-step-before', '2099-01-01T00:00:00Z'],
  ['allowlist', 'pause', 'w', '--reason', ''],
  ['allowlist', 'resume', 'w', '--shift', '--json'],
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
  ['config', 'export'],
  ['config', 'export', '--kinds', 'limits,entities', '--out', 'exported.yaml'],
  ['config', 'export', '--kinds', 'limits,members'],
  ['config', 'plan', 'exported.yaml', '--prune', '--exit-code'],
  ['config', 'plan', 'all.yaml', '--exit-code', '--out', 'plan.json'],
  ['config', 'apply', '--plan', 'plan.json'],
  ['config', 'apply', '--plan', 'plan.json', '--json'],
  ['config', 'apply', 'all.yaml', '--plan', 'plan.json'],
  ['config', 'apply', '--plan', 'all.yaml'],
  ['config', 'plan', 'all.yaml', '--exit-code', '--json'],
  ['config', 'apply', 'all.yaml', '--prune'],
  ['config', 'apply', 'all.yaml', '--prune', '--json'],
  ['config', 'apply', 'gone.yaml'],
  ['config', 'plan', 'type.yaml'],
  ['config', 'plan', 'precision.yaml'],
  ['config', 'plan', 'dangling.yaml'],
  ['config', 'apply', 'dangling.yaml'],
  ['config', 'apply', 'circle.yaml', '--json'],
  ['config', 'export'],
  ['idempotency', 'get', 'PRODUCE', 'none'],
  ['idempotency', 'get', 'PRODUCE', '..', '--json'],
  ['idempotency', 'delete', 'PRODUCE', 'none', '--json'],
  ['key', 'update', 'nobody', '--scopes', 'read'],
  ['key', 'update', 'nobody', '--never-expires', '--json'],
  ['key', 'update', 'nobody', '--expires-at', 'tomorrow'],
  ['key', 'update', 'nobody'],
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
    writeFileSync(dir.file('gone.txt'), 'nobody\n')
    writeFileSync(dir.file('ids.csv'), 'customerId,addedBy\nann,me\nbob,me\nbad id,me\nbob,you\n')
    writeFileSync(dir.file('limits.yaml'), PLAN)
    writeFileSync(dir.file('wrong.yaml'), 'system:\n  gpt-4: { limits: { rpm: { capacity: -1 } } }\n')
    for (const [name, text] of Object.entries(FILES)) writeFileSync(dir.file(name), text)
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
