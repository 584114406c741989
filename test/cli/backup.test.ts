import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Catraca } from '../../src/app/open-catraca.js'
import { sealManifest } from '../../src/engines/embedded/backup/manifest.js'
import { until } from '../server/support.js'
import { openPatiently } from '../support/patient.js'
import { STALLED, stalledReads } from '../support/stalled.js'
import { temporaryDirectory } from '../support/temporary.js'
import { command, customers, serve, start } from './run.js'

const MEMBERS = 5000
const root = temporaryDirectory()
const data = join(root, 'data')
const embedded = (directory: string): string[] => ['--store', `embedded:${directory}`]
const perHour = { capacity: 10, refillAmount: 10, refillPeriodSeconds: 3600 }
const asked = { entity: 'user:1', resource: 'api' }
const phone = { channel: 'phone', address: '+5511987654321', purpose: 'login' } as const
const request = { operation: 'pay', key: 'order-1', payload: { cents: 5 } }
const stored = { code: '', key: '' }
const stalled = new RegExp(STALLED)

async function* lines(ids: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(ids.join('\n'))
}

async function fill(store: Catraca): Promise<void> {
  await store.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await store.allowlists.create({ id: 'live', name: 'Live', type: 'FIXA' })
  await store.allowlists.import('vip', lines(customers(MEMBERS)), { format: 'text' })
  await store.limits.setConfig({ level: 'system', resource: 'api' }, { limits: { calls: perHour } })
  for (let i = 0; i < 7; i++) await store.limits.acquire(asked)
  const issued = await store.codes.issue(phone)
  assert.ok(issued.issued)
  stored.code = issued.code
  await store.idempotency.run(request, async () => ({ paid: true }))
  await store.tokens.revoke({ jti: 'stolen', expiresAt: new Date(Date.now() + 3_600_000) })
  stored.key = (await store.keys.create({ name: 'ops', scopes: ['admin'] })).key
}

before(async () => {
  const store = await openPatiently({ store: `embedded:${data}`, sweepIntervalMs: 0 })
  await fill(store)
  await store.close()
})

/** Adds customers to a list over HTTP, four at a time, and keeps which ones were acknowledged. */
function keepAdding(url: string, key: string) {
  const acknowledged: string[] = []
  let [next, isOver] = [0, false]
  const add = async (): Promise<void> => {
    while (!isOver) {
      const id = `writer-${next++}`
      const init = { method: 'PUT', headers: { authorization: `Bearer ${key}` } }
      const { ok } = await fetch(`${url}/allowlists/live/customers/${id}`, init)
      assert.ok(ok)
      acknowledged.push(id)
    }
  }
  const all = Promise.all([add(), add(), add(), add()])
  return {
    acknowledged,
    async stop(): Promise<void> {
      isOver = true
      await all
    },
  }
}

async function isMember(store: Catraca, list: string, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) {
    const [answer] = (await store.allowlists.check(id, [list])).results
    if (answer?.allowed !== true) return false
  }
  return true
}

describe('catraca backup and restore', () => {
  it('keep every write that was acknowledged before, while a server writes', async () => {
    const served = await serve(embedded(data))
    const writer = keepAdding(served.url, stored.key)
    const untilMore = (from = writer.acknowledged.length) =>
      until('the server writes', () => writer.acknowledged.length >= from + 20, 30_000)
    await untilMore()
    const known = [...writer.acknowledged]
    const target = join(root, 'online')
    // Stalled where the counters are copied, and the rest is not.
    const running = start(['backup', target, '--json', ...embedded(data)], {
      env: stalledReads(/partial-\d+\/limits\//),
    })
    await running.said(stalled)
    await untilMore()
    running.child.kill('SIGUSR2')
    const { code, stdout, stderr } = await running.ended
    assert.equal(code, 0, stderr)
    await writer.stop()
    await served.stop()
    const { files } = JSON.parse(stdout) as { files: { path: string }[] }
    assert.deepEqual(
      files.map(({ path }) => path),
      ['limits/boot/data.mdb', 'data.mdb', 'otp-pepper'],
    )
    for (const { path } of files) assert.equal(statSync(join(target, path)).mode & 0o777, 0o600)

    const restored = join(root, 'restored')
    const done = await command(['restore', target, ...embedded(restored)])
    assert.equal(done.code, 0, done.stderr)
    assert.ok(existsSync(join(restored, 'data.mdb')), 'the sign for version 0.1.0')
    const store = await openPatiently({ store: `embedded:${restored}` })
    assert.ok(await isMember(store, 'live', known))
    assert.ok(
      await isMember(
        store,
        'vip',
        customers(MEMBERS).filter((_, i) => i % 100 === 0),
      ),
    )
    assert.equal((await store.allowlists.get('vip'))?.customerCount, MEMBERS)
    const { limits } = await store.limits.status('user:1', 'api')
    assert.equal(limits.calls?.remaining, 3)
    assert.deepEqual(await store.codes.verify({ ...phone, code: stored.code }), { valid: true })
    const replayed = await store.idempotency.run(request, async () => assert.fail('done twice'))
    assert.equal(replayed.outcome, 'replayed')
    assert.equal((await store.tokens.check({ jti: 'stolen' })).revoked, true)
    assert.deepEqual(
      (await store.keys.list()).map(({ name }) => name),
      ['ops'],
    )
    await store.allowlists.add('live', 'after')
    await store.close()
  })

  it('leave no half backup, and no half store, behind a kill', async () => {
    const target = join(root, 'killed')
    await killHalfway(['backup', target, ...embedded(data)], /killed\.partial-\d+\/data\.mdb$/)
    assert.equal(existsSync(target), false)
    const [left] = readdirSync(root).filter((name) => name.startsWith('killed.partial-'))
    assert.ok(left !== undefined)
    const half = await command(['restore', join(root, left), ...embedded(join(root, 'none'))])
    assert.deepEqual([half.code, existsSync(join(root, 'none'))], [1, false])
    assert.equal((await command(['backup', target, ...embedded(data)])).code, 0)
    assert.equal(existsSync(join(root, left)), false, 'what the killed one left is removed')

    const store = join(root, 'store')
    await killHalfway(['restore', target, ...embedded(store)], /store\.restoring-\d+\/v2\/data\.mdb$/)
    assert.equal(existsSync(store), false)
    assert.equal((await command(['restore', target, ...embedded(store)])).code, 0)
    assert.deepEqual(
      readdirSync(root).filter((name) => /\.(partial|restoring)-/.test(name)),
      [],
    )
  })

  it('refuse a backup that is not as it was written', async () => {
    const good = join(root, 'killed')
    const verify = async (directory: string): Promise<string> => {
      const { code, stderr } = await command(['restore', directory, '--verify'])
      return code === 0 ? 'whole' : stderr
    }
    assert.equal(await verify(good), 'whole')
    const spoil = async (name: string, change: (bad: string) => void): Promise<string> => {
      const bad = join(root, `bad-${name}`)
      cpSync(good, bad, { recursive: true })
      change(bad)
      const why = await verify(bad)
      const { code } = await command(['restore', bad, ...embedded(join(root, 'none'))])
      assert.deepEqual([code, existsSync(join(root, 'none'))], [1, false])
      rmSync(bad, { recursive: true })
      return why
    }
    const flip = (path: string, at: number): void => {
      const bytes = readFileSync(path)
      bytes[at]! ^= 1
      writeFileSync(path, bytes)
    }
    assert.match(await spoil('byte', (bad) => flip(join(bad, 'data.mdb'), 100_000)), /data\.mdb was changed/)
    assert.match(await spoil('secret', (bad) => flip(join(bad, 'otp-pepper'), 3)), /otp-pepper was changed/)
    const manifest = (bad: string) => join(bad, 'manifest.json')
    const dated = readFileSync(manifest(good), 'utf8').indexOf('startedAt') + 14
    assert.match(await spoil('manifest', (bad) => flip(manifest(bad), dated)), /manifest\.json is damaged/)
    assert.match(await spoil('missing', (bad) => rmSync(join(bad, 'otp-pepper'))), /otp-pepper is missing/)
    const extra = (bad: string) => copyFileSync(join(bad, 'data.mdb'), join(bad, 'other.mdb'))
    assert.match(await spoil('extra', extra), /other\.mdb is not part/)
    const outside = (bad: string) => {
      const { checksum: _, ...read } = JSON.parse(readFileSync(manifest(bad), 'utf8'))
      const pepper = read.files.find(({ path }: { path: string }) => path === 'otp-pepper')
      copyFileSync(join(bad, 'otp-pepper'), join(root, 'planted'))
      read.files.push({ ...pepper, path: '../planted' })
      writeFileSync(manifest(bad), sealManifest(read))
    }
    assert.match(await spoil('outside', outside), /names a file outside of it/)
  })

  it('refuse a directory that is in use, or not empty; --force moves it aside', async () => {
    const backup = join(root, 'killed')
    const target = join(root, 'taken')
    const served = await serve(embedded(target))
    const open = await command(['restore', backup, '--force', ...embedded(target)])
    assert.equal(open.code, 1)
    assert.match(open.stderr, new RegExp(`open in process ${served.child.pid}`))
    await served.stop()
    const full = await command(['restore', backup, ...embedded(target)])
    assert.equal(full.code, 1)
    assert.match(full.stderr, /is not empty/)
    const forced = await command(['restore', backup, '--force', '--json', ...embedded(target)])
    assert.equal(forced.code, 0, forced.stderr)
    const { movedTo } = JSON.parse(forced.stdout) as { movedTo: string }
    assert.ok(existsSync(join(movedTo, 'v2', 'data.mdb')))
    const checked = await command(['check', customers(1)[0]!, '--allowlists', 'vip', ...embedded(target)])
    assert.equal(checked.code, 0)
    const empty = join(root, 'empty')
    mkdirSync(empty)
    assert.equal((await command(['restore', backup, ...embedded(empty)])).code, 0)
    const again = await command(['backup', backup, ...embedded(data)])
    assert.match(again.stderr, /exists already/)
  })

  it('say where to look for other stores', async () => {
    const target = join(root, 'never')
    for (const flags of [
      ['--store', 'redis://127.0.0.1:1/0'],
      ['--url', 'http://127.0.0.1:1'],
    ]) {
      const { code, stderr } = await command(['backup', target, ...flags])
      assert.equal(code, 2)
      assert.match(stderr, /backup-and-recovery\.md/)
    }
    const none = await command(['backup', target, ...embedded(join(root, 'nothing'))])
    assert.match(none.stderr, /holds no store/)
    assert.equal(existsSync(target), false)
  })
})

/** kill -9 when files are written, and the last of them is not yet compared with what it should be. */
async function killHalfway(args: string[], files: RegExp): Promise<void> {
  const running = start(args, { env: stalledReads(files) })
  await running.said(stalled)
  running.child.kill('SIGKILL')
  const { signal } = await running.ended
  assert.equal(signal, 'SIGKILL', 'it was killed before it was done')
}
