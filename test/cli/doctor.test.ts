import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import type { Finding } from '../../src/core/diagnosis.js'
import { diagnoseEmbedded } from '../../src/engines/embedded/diagnose/index.js'
import { isStopped } from '../../src/engines/embedded/lmdb/open-processes.js'
import { foundBy, levelsOf } from '../support/findings.js'
import { openPatiently } from '../support/patient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { withoutRootRights } from '../support/without-root-rights.js'
import { command, type Served, serve } from './run.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

async function doctor(
  args: string[],
  env: Record<string, string> = {},
  cwd = temporaryDirectory(),
): Promise<{ code: number | null; findings: Finding[]; levels: Record<string, string>; stdout: string }> {
  const { code, stdout } = await command(['doctor', '--json', ...args], { env, cwd })
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { code, findings, levels: levelsOf(findings), stdout }
}

const memory = ['--store', 'memory:']

describe('catraca doctor on a file in the place of a directory', () => {
  for (const below of ['', '/data']) {
    it(`says so, and what to do: file${below}`, async () => {
      const file = `${temporaryDirectory()}/file`
      writeFileSync(file, '')
      const { findings, levels } = await doctor(['--store', `embedded:${file}${below}`])
      const { found, remedy } = findings.find(({ id }) => id === 'embedded.directory')!
      assert.deepEqual([found, remedy], [`${file} is not a directory`, 'Name a directory.'])
      assert.equal(levels['embedded.secrets'], 'skipped')
    })
  }
})

describe('catraca doctor on the configuration', () => {
  it('names variables that are no setting, and settings that are wrong, and goes on', async () => {
    const env = { CATRACA_PROT: '8081', CATRACA_KEYS: '' }
    const stray = await doctor(memory, env)
    assert.equal(stray.code, 1)
    assert.match(
      foundBy(stray.findings, 'config.variables'),
      /CATRACA_PROT is not a setting[\s\S]*CATRACA_KEYS is empty/,
    )
    assert.equal(stray.levels['config.settings'], 'ok')
    const wrong = await doctor(memory, { CATRACA_PORT: 'x', CATRACA_WORKERS: '0' })
    assert.match(foundBy(wrong.findings, 'config.settings'), /CATRACA_PORT[\s\S]*CATRACA_WORKERS/)
    assert.deepEqual([wrong.levels['config.keys'], wrong.levels['machine.node']], ['skipped', 'ok'])
    assert.equal((await doctor(memory)).code, 0)
  })

  it('wants keys beyond this machine, in the settings or in the store', async () => {
    const env = { CATRACA_HOST: '0.0.0.0' }
    const cwd = temporaryDirectory()
    const store = ['--store', 'embedded:./data']
    assert.equal((await doctor(store, env, cwd)).levels['config.keys'], 'problem')
    const made = await command(['key', 'create', 'ops', '--scopes', 'admin', ...store], { cwd })
    assert.equal(made.code, 0, made.stderr)
    assert.equal((await doctor(store, env, cwd)).levels['config.keys'], 'ok')
  })

  it('wants a pepper where codes are to be used', async () => {
    const env = { CATRACA_STORE_CODES: 'redis://127.0.0.1:1/0', CATRACA_REDIS_CONNECT_TIMEOUT_MS: '200' }
    assert.equal((await doctor([], env)).levels['config.pepper'], 'problem')
    assert.equal(
      (await doctor([], { ...env, CATRACA_OTP_PEPPER: 'short' })).levels['config.pepper'],
      'warning',
    )
    const long = { ...env, CATRACA_OTP_PEPPER: 'long-enough-for-anybody' }
    const { levels, stdout } = await doctor([], long)
    assert.equal(levels['config.pepper'], 'ok')
    assert.doesNotMatch(stdout, /long-enough/)
  })

  it('finds secret files that everybody may read', async () => {
    const cwd = temporaryDirectory()
    const file = `${cwd}/pepper`
    writeFileSync(file, 'long-enough-for-anybody')
    const env = { CATRACA_OTP_PEPPER_FILE: file }
    chmodSync(file, 0o644)
    assert.equal((await doctor(memory, env, cwd)).levels['config.secret-files'], 'problem')
    chmodSync(file, 0o600)
    assert.equal((await doctor(memory, env, cwd)).levels['config.secret-files'], 'ok')
    const config = `${cwd}/catraca.config.json`
    writeFileSync(config, JSON.stringify({ store: 'redis://:hidden@127.0.0.1:1/0' }), { mode: 0o644 })
    const inline = await doctor(memory, {}, cwd)
    assert.equal(inline.levels['config.secret-files'], 'problem')
    assert.doesNotMatch(inline.stdout, /hidden/)
    chmodSync(config, 0o640)
    assert.equal((await doctor(memory, {}, cwd)).levels['config.secret-files'], 'ok')
  })
})

const look = async (directory: string, now?: () => number) =>
  (await diagnoseEmbedded({ directory }, 'here', now)).findings

describe('catraca doctor on an embedded store', () => {
  it('makes nothing, and says that there is nothing', async () => {
    const directory = `${temporaryDirectory()}/none`
    const levels = levelsOf(await look(directory))
    assert.deepEqual([levels['embedded.directory'], levels['embedded.rows']], ['warning', 'skipped'])
    mkdirSync(directory)
    assert.equal(levelsOf(await look(directory))['embedded.directory'], 'ok')
  })

  it('finds a secret that others may read, a file cut short, writes that do not wait', async () => {
    const directory = temporaryDirectory()
    const store = await openPatiently({ store: `embedded:${directory}` })
    await store.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await store.allowlists.add('vip', 'alice')
    await store.codes.issue({ channel: 'phone', address: '+5511987654321', purpose: 'login' })
    await store.close()
    assert.deepEqual(
      (await look(directory)).filter(({ level }) => level !== 'ok' && level !== 'warning'),
      [],
    )
    chmodSync(`${directory}/otp-pepper`, 0o644)
    assert.equal(levelsOf(await look(directory))['embedded.secrets'], 'problem')
    chmodSync(`${directory}/otp-pepper`, 0o600)
    assert.equal(levelsOf(await look(directory))['embedded.secrets'], 'ok')
    const loose = await diagnoseEmbedded({ directory, durability: 'process' }, 'here')
    assert.equal(levelsOf(loose.findings)['embedded.durability'], 'warning')
    const full = await diagnoseEmbedded({ directory, maxSizeBytes: 1 }, 'here')
    assert.equal(levelsOf(full.findings)['embedded.space'], 'problem')
    truncateSync(`${directory}/v2/data.mdb`, 20_000)
    const cut = await look(directory)
    assert.match(foundBy(cut, 'embedded.open'), /cut short/)
    assert.equal(levelsOf(cut)['embedded.rows'], 'skipped')
  })

  it('finds what was left behind: imports, builds, rows of no list, pages of an index', async () => {
    const directory = temporaryDirectory()
    const store = await openPatiently({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
    const { list } = { list: await store.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' }) }
    await store.allowlists.add(list.id, 'alice')
    await store.close()
    const root = open({ path: `${directory}/v2`, maxDbs: 64, noSubdir: false, mapSize: 2 ** 40 })
    const number = (no: number) => Buffer.from([0, 0, 0, no])
    const numbered = { encoding: 'string', keyEncoding: 'binary' } as const
    const [no] = [...root.openDB('numbers', numbered).getKeys()] as Uint8Array[]
    const record = Buffer.from(JSON.stringify({ state: 'running', leaseUntil: 5000, importId: 'i' }))
    await root
      .openDB('imports', { encoding: 'binary', keyEncoding: 'binary' })
      .put(Buffer.concat([no!, Buffer.from('i')]), record)
    await root.openDB('builds', numbered).put(no!, JSON.stringify({ owner: 'x', until: 5000 }))
    const manifest = { format: 2, pages: [{ name: 'gone' }] }
    await root.openDB('manifests', numbered).put(no!, JSON.stringify(manifest))
    await root
      .openDB('members', { encoding: 'binary', keyEncoding: 'binary' })
      .put(Buffer.concat([number(99), Buffer.from('bob')]), Buffer.alloc(7))
    await root.close()
    const early = levelsOf(await look(directory, () => 4000))
    assert.deepEqual([early['embedded.imports'], early['embedded.builds']], ['ok', 'ok'])
    const late = levelsOf(await look(directory, () => 6000))
    const ids = ['embedded.imports', 'embedded.builds', 'embedded.rows', 'embedded.indexes']
    assert.deepEqual(
      ids.map((id) => late[id]),
      ['warning', 'warning', 'warning', 'problem'],
    )
  })

  it('finds a directory that may not be written to', async () => {
    const directory = temporaryDirectory()
    const store = await openPatiently({ store: `embedded:${directory}` })
    await store.close()
    const run = async (): Promise<string> => {
      const [file, args] = withoutRootRights([MAIN, 'doctor', '--json', '--store', `embedded:${directory}`])
      const child = spawn(file, args, { cwd: '/', env: { PATH: process.env.PATH } })
      let out = ''
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      await once(child, 'close')
      return levelsOf((JSON.parse(out) as { findings: Finding[] }).findings)['embedded.directory'] ?? 'none'
    }
    chmodSync(directory, 0o500)
    assert.equal(await run(), 'problem')
    chmodSync(directory, 0o700)
    assert.equal(await run(), 'ok')
  })
})

describe('catraca doctor on a server', () => {
  const directory = temporaryDirectory()
  let served: Served
  before(async () => {
    served = await serve(['--store', `embedded:${directory}`])
  })

  it('finds it well without keys', async () => {
    const { code, levels } = await doctor(['--url', served.url])
    assert.equal(code, 0)
    for (const id of ['live', 'ready', 'health', 'version', 'keys', 'tls', 'clock'])
      assert.equal(levels[`server.${id}`], 'ok')
    assert.equal(levels['embedded.open'], undefined)
  })

  it('tells of keys that are asked for, and of ours that is refused', async () => {
    const url = ['--url', served.url]
    const made = await command(['key', 'create', 'ops', '--scopes', 'admin,read', '--json', ...url])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const without = await doctor(url)
    assert.deepEqual([without.levels['server.keys'], without.levels['server.health']], ['ok', 'skipped'])
    const known = await doctor(url, { CATRACA_KEY: key })
    assert.deepEqual([known.levels['server.keys'], known.levels['server.health']], ['ok', 'ok'])
    assert.doesNotMatch(known.stdout, new RegExp(key))
    assert.equal((await doctor(url, { CATRACA_KEY: 'wrong' })).levels['server.keys'], 'problem')
  })

  it('names the processes that have the store of the server open, and one that is stopped', async () => {
    const open = await look(directory)
    assert.match(foundBy(open, 'embedded.processes'), new RegExp(`process ${served.child.pid}`))
    served.child.kill('SIGSTOP')
    try {
      await until('the server stands still', () => isStopped(served.child.pid!))
      assert.equal(levelsOf(await look(directory))['embedded.processes'], 'problem')
    } finally {
      served.child.kill('SIGCONT')
    }
    await served.stop()
    assert.match(foundBy(await look(directory), 'embedded.processes'), /no other/)
  })

  it('ends when nobody answers, and when somebody never does', async () => {
    const nobody = await doctor(['--url', 'http://127.0.0.1:1'])
    assert.deepEqual(
      [nobody.code, nobody.levels['server.live'], nobody.levels['server.ready']],
      [1, 'problem', 'skipped'],
    )
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const hanging = await doctor(['--url', `http://127.0.0.1:${port}`])
    assert.match(foundBy(hanging.findings, 'server.live'), /no answer within/)
    silent.close()
  })
})
