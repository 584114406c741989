import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { command, type Served, scratch, serve } from './run.js'

const directory = scratch()
after(() => directory.remove())

describe('catraca audit list', () => {
  const store = `embedded:${directory.file('data')}`
  let server: Served
  before(async () => {
    for (const args of [
      ['allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA'],
      ['allowlist', 'add', 'vip', 'ann', '--added-by', 'me'],
      ['key', 'create', 'ops', '--scopes', 'admin'],
      ['key', 'revoke', 'ops'],
      // Without it the server would let nobody in.
      ['key', 'unlock'],
    ]) {
      const { code, stderr } = await command([...args, '--store', store])
      assert.equal(code, 0, stderr)
    }
    server = await serve(['--store', store])
  })
  after(() => server.stop())

  it('says who did what on a store', async () => {
    const { code, stdout } = await command(['audit', 'list', '--store', store])
    assert.equal(code, 0)
    const [head, ...rows] = stdout.trimEnd().split('\n')
    assert.match(head!, /^AT +ACTOR +ACTION +TARGET +REASON +CHANGE$/)
    assert.equal(rows.length, 5)
    const user = userInfo().username
    assert.match(rows[0]!, /key\.unlock +key:\*/)
    assert.match(rows[1]!, new RegExp(`cli:${user} +key\\.revoke +key:ops +- +\\{"before"`))
    assert.match(rows[3]!, /allowlist\.member\.add +allowlist:vip ann +.*"addedBy":"me"/)
  })

  it('gives the same on a server, filtered and paged', async () => {
    const queries = [
      ['--target', 'allowlist:vip', '--json'],
      ['--actor', userInfo().username, '--limit', '2', '--json'],
      ['--action', 'key', '--json'],
      ['--from', '2020-01-01', '--to', '2020-02-01', '--json'],
      ['--target', 'nonsense', '--json'],
    ]
    for (const query of queries) {
      const onStore = await command(['audit', 'list', ...query, '--store', store])
      const onServer = await command(['audit', 'list', ...query, '--url', server.url])
      assert.equal(onServer.stdout, onStore.stdout, query.join(' '))
      assert.deepEqual([onServer.code, onServer.stderr], [onStore.code, onStore.stderr])
    }
    const { stdout } = await command(['audit', 'list', '--action', 'key', '--json', '--store', store])
    const actions = JSON.parse(stdout).items.map(({ action }: { action: string }) => action)
    assert.deepEqual(actions, ['key.unlock', 'key.revoke', 'key.create'])
    assert.ok(!stdout.includes('ctr_'))
  })

  it('can be switched off', async () => {
    const env = { CATRACA_AUDIT_ENABLED: 'false' }
    await command(['allowlist', 'add', 'vip', 'bob', '--store', store], { env })
    const { stdout } = await command([
      'audit',
      'list',
      '--target',
      'customer:bob',
      '--json',
      '--store',
      store,
    ])
    assert.deepEqual(JSON.parse(stdout), { items: [] })
  })
})
