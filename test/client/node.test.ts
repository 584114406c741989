import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createClient } from '../../src/client/index.js'
import { patientFetch } from '../../src/client/node.js'
import { serve } from '../server/support.js'
import { caught } from './support.js'

async function clientOf(t: TestContext, listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createClient({ url, key: 'secret', fetch: patientFetch })
}

describe('the fetch of Node clients that waits as long as its caller', () => {
  it('sends and receives as the global one does', async (t) => {
    const { url } = await serve(t)
    const client = createClient({ url, fetch: patientFetch })
    await client.createAllowlist({ body: { id: 'vip', name: 'É ∿', type: 'FIXA' } })
    async function* rows() {
      yield new TextEncoder().encode('one\n')
      yield new TextEncoder().encode('two\n')
    }
    await client.importMembers({ id: 'vip', contentType: 'text/plain', body: rows() })
    await client.importMembers({
      id: 'vip',
      contentType: 'text/csv',
      body: new Blob(['customerId\nthree\n']),
    })
    const exported = await client.exportMembers({ id: 'vip', accept: 'text/plain' })
    assert.match(exported.headers.get('content-type')!, /^text\/plain/)
    assert.deepEqual((await exported.text()).trim().split('\n').sort(), ['one', 'three', 'two'])
    assert.equal(await client.deleteAllowlist({ id: 'vip' }), undefined)
    assert.equal((await caught(client.getAllowlist({ id: 'vip' }))).code, 'ALLOWLIST_NOT_FOUND')
  })

  it('hears a refusal that comes before the end of the body, and stops reading its source', async (t) => {
    const client = await clientOf(t, (request, response) => {
      response.writeHead(409).end('{"code":"REPLACE_IN_PROGRESS","detail":"later"}')
      request.resume()
    })
    let stopped: () => void
    const isStopped = new Promise<void>((resolve) => {
      stopped = resolve
    })
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(64 * 1024)
      } finally {
        stopped()
      }
    }
    const upload = client.importMembers({ id: 'vip', contentType: 'text/csv', body: endless() })
    assert.equal((await caught(upload)).code, 'REPLACE_IN_PROGRESS')
    await isStopped
  })

  it('names the failure of the source of a body as the cause', async (t) => {
    const client = await clientOf(t, (request) => request.resume())
    const gone = Object.assign(new Error('the disk is gone'), { code: 'EIO' })
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10)
      throw gone
    }
    const upload = client.importMembers({ id: 'vip', contentType: 'text/csv', body: broken() })
    assert.equal((await caught(upload)).cause, gone)
  })

  it('ends when its caller gives up, before the response and during it', async (t) => {
    const client = await clientOf(t, (request, response) => {
      if (request.url === '/metrics') response.write('one\n')
    })
    const stop = new AbortController()
    const waiting = caught(client.live({}, { signal: stop.signal }))
    const { body } = await client.getMetrics({}, { signal: stop.signal })
    const reader = body!.getReader()
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'one\n')
    stop.abort()
    assert.equal((await waiting).code, 'ABORTED')
    await assert.rejects(reader.read())
  })

  it('keeps the key from wherever a redirect leads', async (t) => {
    const seen: string[] = []
    const client = await clientOf(t, (request, response) => {
      seen.push(request.url!)
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    assert.equal((await caught(client.live())).code, 'HTTP_302')
    assert.deepEqual(seen, ['/live'])
  })
})
