import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { pino } from 'pino'
import type { TlsMaterial } from '../../src/server/http/tls.js'
import { type Certificates, makeCertificates } from '../support/redis/index.js'
import { serve, type TestServer, until } from './support.js'

const pem = (file: string): string => readFileSync(file, 'utf8')
const materialOf = ({ certificate, key }: Certificates): TlsMaterial => ({
  cert: pem(certificate),
  key: pem(key),
})

let first: Certificates
let second: Certificates
before(() => {
  first = makeCertificates()
  second = makeCertificates()
})
after(() => {
  first.remove()
  second.remove()
})

interface Trust {
  ca: string
  cert?: string
  key?: string
  agent?: Agent
}

function get(
  url: string,
  path: string,
  trust: Trust,
  headers = {},
): Promise<{ status: number; text: string }> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path, headers, agent: false, ...trust },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** The certificate that a new connection is shown. */
async function shown(url: string, ca: string, t: TestContext): Promise<string> {
  const socket: TLSSocket = connect({
    host: '127.0.0.1',
    port: Number(new URL(url).port),
    ca: [ca, second.authority],
  })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket.getPeerX509Certificate()!.fingerprint256
}

function countConnections({ app }: TestServer): Promise<number> {
  return new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

describe('a server with a certificate', () => {
  it('speaks HTTPS alone, on every way to an answer', async (t) => {
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const server = await serve(t, { tls: () => materialOf(first), logger })
    assert.match(server.url, /^https:/)
    assert.ok(lines.some((line) => line.includes(`listening at ${server.url}`)))
    const { key } = await server.catraca.keys.create({ name: 'ops', scopes: ['check', 'read'] })
    await until('locked', () => server.keyed)
    const trust = { ca: first.authority, agent: new Agent({ keepAlive: true, maxSockets: 1 }) }
    t.after(() => trust.agent.destroy())
    const headers = { authorization: `Bearer ${key}` }
    const plain = '/customers/ana/check?allowlists=vip'
    for (const path of [plain, plain, `${plain}&consistency=strong`, '/allowlists', plain]) {
      const { status, text } = await get(server.url, path, trust, headers)
      assert.equal(status, 200, text)
    }
    assert.equal((await get(server.url, plain, trust)).status, 401)
    await assert.rejects(fetch(server.url.replace('https', 'http')))
    await assert.rejects(get(server.url, plain, { ca: second.authority }), /certificate|self.signed|unable/i)
  })

  it('shows a renewed certificate to new connections, and keeps the old one while the pair does not match', async (t) => {
    let material = materialOf(first)
    const server = await serve(t, { tls: () => material, tlsRefreshMs: 5 })
    const old = await shown(server.url, first.authority, t)
    material = { cert: pem(second.certificate), key: pem(first.key) }
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(await shown(server.url, first.authority, t), old)
    material = materialOf(second)
    await until('renewed', async () => (await shown(server.url, first.authority, t)) !== old)
    assert.equal((await get(server.url, '/live', { ca: second.authority })).status, 200)
  })

  it('lets in only clients of the authority that it is given', async (t) => {
    const server = await serve(t, { tls: () => ({ ...materialOf(first), clientCa: second.authority }) })
    const ca = first.authority
    const known = { ca, cert: pem(second.certificate), key: pem(second.key) }
    assert.equal((await get(server.url, '/live', known)).status, 200)
    await assert.rejects(get(server.url, '/live', { ca }))
    await assert.rejects(get(server.url, '/live', { ca, ...materialOf(first) }))
  })

  it('does not start with a pair that does not match, and does not quote it', async (t) => {
    const wrong = () => ({ cert: pem(first.certificate), key: pem(second.key) })
    await assert.rejects(serve(t, { tls: wrong }), (error: Error) => {
      assert.match(error.message, /server\.tlsCert, server\.tlsKey/)
      assert.doesNotMatch(error.message, /BEGIN/)
      return true
    })
  })

  it('closes connections that do not finish their handshake, whatever they send of it', {
    timeout: 60_000,
  }, async (t) => {
    const server = await serve(t, { tls: () => materialOf(first), transferTimeoutMs: 300 })
    const halfHello = Buffer.concat([Buffer.from('1603010200010001fc0303', 'hex'), Buffer.alloc(32)])
    const sent = [Buffer.alloc(0), halfHello.subarray(0, 4), halfHello, 'drip'] as const
    await Promise.all(
      sent.map(async (bytes) => {
        const socket = connectPlain(Number(new URL(server.url).port), '127.0.0.1')
        // A reset while something is being sent is fine too.
        socket.on('error', () => {})
        socket.write(bytes === 'drip' ? halfHello : bytes)
        const drip = bytes === 'drip' ? setInterval(() => socket.write('\0'), 50) : undefined
        t.after(() => {
          clearInterval(drip)
          socket.destroy()
        })
        await new Promise((resolve) => socket.resume().once('close', resolve))
      }),
    )
    await until('the server has none', async () => (await countConnections(server)) === 0)
  })

  it('stops at once though a connection never finished its handshake', async (t) => {
    const server = await serve(t, { tls: () => materialOf(first), shutdownTimeoutMs: 30_000, drainMs: 1 })
    const silent = connectPlain(Number(new URL(server.url).port), '127.0.0.1')
    await once(silent, 'connect')
    const idle = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), ca: first.authority })
    await once(idle, 'secureConnect')
    silent.on('error', () => {})
    idle.on('error', () => {})
    const gone = Promise.all([once(silent, 'close'), once(idle, 'close')])
    await server.stop()
    await gone
  })
})
