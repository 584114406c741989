import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RestartPauses } from '../../src/cli/workers/index.js'
import { parse, sampleOf } from '../metrics/support.js'
import { ask, caller, descriptor } from '../server/grpc/support.js'
import { send, until } from '../server/support.js'
import { freePort, makeCertificates } from '../support/redis/index.js'
import { catraca, command, type Served, scratch, serve, start } from './run.js'

const dir = scratch()
after(() => dir.remove())

describe('serve', () => {
  let plain: Served
  before(async () => {
    plain = await serve([], { cwd: dir.path })
  })

  it('says where it listens, what it stores in, and what to try', async () => {
    await plain.said(/^Catraca listens on http:\/\/127\.0\.0\.1:\d+ \(store embedded:\.\/catraca-data\)\n/)
    const [, line] = await plain.said(/Try: (curl \S+)/)
    const url = /'(.*)'/.exec(line!)![1]!
    const answer = await fetch(url)
    assert.equal(answer.status, 200)
  })

  it('takes its settings from the file, and tells callers that they need a key', async () => {
    const { stdout } = await command(['key', 'generate', 'ops', '--scopes', 'admin,read,check', '--json'])
    const { key, entry } = JSON.parse(stdout)
    writeFileSync(dir.file('keys.json'), JSON.stringify([entry]))
    const settings = { store: 'memory:', server: { logLevel: 'warn' }, keysFile: 'keys.json' }
    writeFileSync(dir.file('my.json'), JSON.stringify(settings))
    const server = await serve(['--config', 'my.json'], { cwd: dir.path })
    await server.said(/Try: curl -H 'Authorization: Bearer YOUR_KEY'/)
    const list = ['allowlist', 'list', '--url', server.url]
    const without = await command(list)
    assert.equal(without.code, 1)
    assert.match(without.stderr, /^catraca: .*key.*\n$/i)
    assert.equal((await command(list, { env: { CATRACA_KEY: key } })).code, 0)
    writeFileSync(dir.file('key'), `${key}\n`)
    assert.equal((await command(list, { env: { CATRACA_KEY_FILE: dir.file('key') } })).code, 0)
    const wrong = await command(list, { env: { CATRACA_KEY: 'ctr_wrong' } })
    assert.equal(wrong.code, 1)
    const { code, stdout: logs } = await server.stop()
    assert.deepEqual([code, logs], [0, ''])
  })

  it('manages the keys of a server through the server', async () => {
    const run = (args: string[], key?: string) =>
      command(['key', ...args, '--url', plain.url, '--json'], key ? { env: { CATRACA_KEY: key } } : {})
    const { key } = JSON.parse((await run(['create', 'first', '--scopes', 'admin'])).stdout)
    assert.equal((await run(['list'])).code, 1, 'the first key locks the server')
    assert.equal((await run(['create', 'first', '--scopes', 'read'], key)).code, 1)
    await run(['create', 'second', '--scopes', 'read'], key)
    const { items } = JSON.parse((await run(['list'], key)).stdout)
    assert.deepEqual(
      items.map((item: { name: string; key?: string }) => [item.name, item.key]),
      [
        ['first', undefined],
        ['second', undefined],
      ],
    )
    assert.equal((await run(['revoke', 'second'], key)).code, 0)
    assert.match((await run(['revoke', 'second'], key)).stderr, /KEY_NOT_FOUND/)
  })

  it('a store whose last key was revoked is unlocked by hand, on the store', async () => {
    const store = `embedded:${dir.file('unlocked')}`
    const run = (args: string[], env = {}) => command(['key', ...args, '--store', store], { env })
    await run(['create', 'only', '--scopes', 'admin'])
    const early = await run(['unlock'])
    assert.deepEqual([early.code, /revoke them first/.test(early.stderr)], [1, true])
    assert.equal((await run(['revoke', 'only'])).code, 0)
    const doctor = async () => {
      const { stdout } = await command(['doctor', '--json', '--store', store])
      return JSON.parse(stdout).findings.find(({ id }: { id: string }) => id === 'config.keys').level
    }
    assert.equal(await doctor(), 'problem')
    const remote = await command(['key', 'unlock', '--url', plain.url])
    assert.deepEqual([remote.code, /--store/.test(remote.stderr)], [2, true])
    assert.equal((await run(['unlock'])).code, 0)
    assert.equal(await doctor(), 'ok')
    const named = JSON.stringify([{ name: 'boot', scopes: ['read'], hash: 'ab'.repeat(32) }])
    const twice = await run(['create', 'boot', '--scopes', 'read'], { CATRACA_KEYS: named })
    assert.deepEqual([twice.code, /in CATRACA_KEYS/.test(twice.stderr)], [1, true])
  })

  it('serves on when nobody reads what it says, and stops when told to', async () => {
    const port = await freePort()
    const { child, ended } = start(['serve', '--port', String(port), '--store', 'memory:'])
    child.stdout!.destroy()
    child.stderr!.destroy()
    const isLive = () =>
      fetch(`http://127.0.0.1:${port}/live`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until('it serves', isLive)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

  it('says in one line that the port is taken', async () => {
    const { port } = new URL(plain.url)
    // Workers are processes of the command itself.
    for (const [workers, run] of [
      ['1', command],
      ['2', catraca],
    ] as const) {
      const args = ['serve', '--port', port, '--workers', workers, '--store', 'embedded:./taken']
      const { code, stderr } = await run(args, { cwd: dir.path })
      assert.deepEqual(
        [code, stderr],
        [1, `catraca: 127.0.0.1:${port} is in use: choose another with --port\n`],
      )
    }
  })

  it('refuses to be reached from elsewhere without a key, and a memory: store for several processes', async () => {
    const open = await command(['serve', '--host', '0.0.0.0', '--port', '0', '--store', 'memory:'])
    assert.equal(open.code, 1)
    assert.match(open.stderr, /^catraca: without any API key .*\n$/)
    const shared = await command(['serve', '--workers', '2', '--port', '0', '--store', 'memory:'])
    assert.equal(shared.code, 1)
    assert.match(shared.stderr, /--workers must be 1\n$/)
  })

  it('stops at the first signal, also ^C', async () => {
    plain.child.kill('SIGINT')
    const { code, stdout } = await plain.ended
    assert.equal(code, 0)
    // Standard output holds nothing but JSON logs.
    for (const entry of stdout.trim().split('\n')) assert.equal(typeof JSON.parse(entry).level, 'number')
  })
})

describe('serve with few file descriptors', () => {
  it('lives on when strangers take all connections, and has some left for its store', async () => {
    const server = await serve(['--store', 'embedded:./few'], { cwd: dir.path, descriptors: 300 })
    const { hostname, port } = new URL(server.url)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const call = (method: string, path: string, body?: object) =>
      send(server.url, method, path, { agent, ...(body !== undefined && { body }) })
    assert.equal((await call('GET', '/live')).status, 200)
    const strangers = Array.from({ length: 320 }, () =>
      connect(Number(port), hostname)
        .on('error', () => {})
        .resume(),
    )
    const figure = async (name: string) => sampleOf(parse((await call('GET', '/metrics')).text), name)
    await until('some are refused', async () => (await figure('catraca_http_connections_refused_total'))! > 0)
    assert.ok((await figure('process_open_fds'))! < 290)
    const list = { id: 'vip', name: 'VIP', type: 'FIXA' }
    assert.equal((await call('POST', '/allowlists', list)).status, 201)
    assert.equal((await call('GET', '/stats/series')).status, 200)
    for (const stranger of strangers) stranger.destroy()
    agent.destroy()
    assert.equal((await server.stop()).code, 0)
  })
})

describe('serve with a certificate', () => {
  it('serves HTTPS from files', async () => {
    const tls = makeCertificates()
    const env = { CATRACA_TLS_CERT_FILE: tls.certificate, CATRACA_TLS_KEY_FILE: tls.key }
    const server = await serve(['--store', 'memory:'], { env })
    assert.match(server.url, /^https:/)
    const list = ['allowlist', 'list', '--json', '--url', server.url]
    const trusting = await catraca(list, { env: { NODE_EXTRA_CA_CERTS: tls.ca } })
    assert.deepEqual(JSON.parse(trusting.stdout), { items: [] }, trusting.stderr)
    assert.equal((await command(list)).code, 1)
    assert.equal((await server.stop()).code, 0)
    const half = await command(['serve', '--port', '0', '--store', 'memory:'], {
      env: { CATRACA_TLS_CERT_FILE: tls.certificate },
    })
    assert.deepEqual(
      [half.code, /server\.tlsCert and server\.tlsKey go together/.test(half.stderr)],
      [1, true],
    )
    tls.remove()
  })
})

describe('serve --grpc-port', () => {
  it('serves a second port, also with workers, and stops it with the first', async (t) => {
    const server = await serve(['--workers', '2', '--grpc-port', '0', '--store', 'embedded:./grpc'], {
      cwd: dir.path,
    })
    const [, port] = await server.said(/gRPC: 127\.0\.0\.1:(\d+)/)
    await server.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)\d+/, 'stdout')
    // Connections go to the workers in turn.
    for (let i = 0; i < 4; i++) {
      const { call } = caller(t, Number(port), 'limits')
      assert.equal((await call(ask(descriptor({ key: 'v' })))).overall_code, 'OK')
    }
    assert.equal((await server.stop()).code, 0)
  })

  it('refuses a taken port and wrong rules before it serves', async () => {
    const port = String(await freePort())
    const first = await serve(['--grpc-port', port, '--store', 'memory:'], { cwd: dir.path })
    const args = ['serve', '--port', '0', '--store', 'memory:']
    const taken = await catraca([...args, '--grpc-port', port], { cwd: dir.path })
    assert.deepEqual(
      [taken.code, taken.stderr],
      [1, `catraca: 127.0.0.1:${port} is in use: choose another with --grpc-port\n`],
    )
    await first.stop()
    const env = { CATRACA_GRPC_DESCRIPTORS: '[{ "entries": [{ "key": "a" }] }]' }
    const wrong = await catraca([...args, '--grpc-port', '0'], { cwd: dir.path, env })
    assert.match(wrong.stderr, /^catraca: grpc\.descriptors\[0\]\.resource must be given\n$/)
  })
})

describe('serve --workers', () => {
  let server: Served
  before(async () => {
    server = await serve(['--workers', '2', '--store', 'embedded:./several'], { cwd: dir.path })
  })

  it('changes the log level of all workers together', async () => {
    await server.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)\d+/, 'stdout')
    const headers = { connection: 'close', 'content-type': 'application/json' }
    const change = { method: 'PUT', headers, body: JSON.stringify({ level: 'debug', forSeconds: 60 }) }
    const { ok } = await fetch(`${server.url}/log-level`, change)
    assert.ok(ok)
    const said = /"pid":(\d+)[^\n]*log level was changed[\s\S]*"pid":(?!\1,)\d+[^\n]*log level was changed/
    await server.said(said, 'stdout')
  })

  it('replaces a worker that dies, and stops them all', async () => {
    const allAnswer = async () => {
      // Connections go to the workers in turn.
      for (let i = 0; i < 6; i++) {
        const { status } = await fetch(`${server.url}/live`, { headers: { connection: 'close' } })
        assert.equal(status, 200)
      }
    }
    const [, first, second] = await server.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)(\d+)/, 'stdout')
    await allAnswer()
    process.kill(Number(first), 'SIGKILL')
    await server.said(/a worker died \(SIGKILL\); another one starts in 100 ms/)
    await server.said(new RegExp(`"pid":(?!${first},|${second},)\\d+`), 'stdout')
    await allAnswer()
    const { code, stderr } = await server.stop()
    assert.equal(code, 0)
    assert.equal(stderr.match(/listens on/g)?.length, 1)
  })

  /** Asks on new connections all the time, before a stop, in it and until it is over; tells what became of each. */
  async function outcomesOfStop(): Promise<string[]> {
    const stopping = await serve(['--workers', '2', '--store', 'embedded:./stopping'], { cwd: dir.path })
    await stopping.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)\d+/, 'stdout')
    const { hostname, port } = new URL(stopping.url)
    const ask = () =>
      new Promise<string>((resolve) => {
        let said = ''
        const socket = connect(Number(port), hostname, () => {
          socket.write('GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
        })
        socket.on('data', (chunk) => (said += chunk))
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!))
        socket.on('close', () => resolve(said.slice(0, 12)))
      })
    const asked: Promise<string>[] = []
    let isOver = false
    stopping.ended.then(() => (isOver = true))
    for (let i = 0; !isOver; i++) {
      if (i === 20) stopping.child.kill('SIGTERM')
      asked.push(ask())
      await sleep(2)
    }
    return Promise.all(asked)
  }

  it('refuses or serves connections of the time in which it stops, and resets none', async () => {
    const others = async () => {
      const outcomes = await outcomesOfStop()
      assert.ok(outcomes.includes('HTTP/1.1 200') && outcomes.includes('ECONNREFUSED'), outcomes.join())
      return outcomes.filter((outcome) => !/^HTTP\/1\.1 (200|503)$|^ECONNREFUSED$/.test(outcome))
    }
    // The kernel resets who connects in the very moment in which the port is closed, which is long on a busy machine.
    const first = await others()
    assert.deepEqual(first.length === 0 ? first : await others(), [])
  })

  it('restarts quickly, and slowly in a crash loop only', () => {
    const pauses = new RestartPauses()
    const lived = [undefined, 50, 50, 5000, 60_000, 10, 10]
    assert.deepEqual(
      lived.map((ms) => pauses.afterDeath(ms)),
      [100, 200, 400, 100, 100, 100, 200],
    )
    for (let i = 0; i < 20; i++) pauses.afterDeath(undefined)
    assert.equal(pauses.afterDeath(undefined), 30_000)
  })
})
