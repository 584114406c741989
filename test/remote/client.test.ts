import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import type { ImportProgress } from '../../src/guards/allowlist/types.js'
import { connectCatraca } from '../../src/remote/index.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Something that listens and is no Catraca server. */
async function stranger(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const client = (url: string, key?: string) => connectCatraca({ url, key, timeoutMs: 0 }).allowlists
async function* chunks(count: number, size = 64 * 1024) {
  for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(0x0a)
}

describe('the client of a server', () => {
  it('names the URL that cannot be reached, in calls, exports and imports', async () => {
    const url = await stranger(() => {})
    servers[0]!.close()
    const unreachable = { code: 'ENGINE_UNAVAILABLE', message: `cannot reach ${url}: ECONNREFUSED` }
    await assert.rejects(client(url).get('vip'), unreachable)
    await assert.rejects(client(url).import('vip', chunks(1)), unreachable)
    await assert.rejects(async () => {
      for await (const _ of client(url).export('vip')) assert.fail('nothing can come')
    }, unreachable)
  })

  it('does not take anything else for a Catraca server', async () => {
    const answers: RequestListener = (request, response) => {
      if (request.url === '/') response.end('{}')
      else if (request.url === '/allowlists/moved') response.writeHead(302, { location: '/' }).end()
      else response.writeHead(404, { 'content-type': 'text/html' }).end('<p>no')
    }
    const url = await stranger(answers)
    for (const id of ['vip', 'moved']) {
      await assert.rejects(client(url).get(id), { code: 'ENGINE_UNAVAILABLE', message: /not as a Catraca/ })
    }
    const odd = await stranger((_, response) => response.end('hello'))
    await assert.rejects(client(odd).get('vip'), { code: 'ENGINE_UNAVAILABLE', message: /not JSON/ })
  })

  it('does not believe a code that it does not know', async () => {
    const url = await stranger((_, response) => {
      response.writeHead(400, { 'content-type': 'application/problem+json' }).end('{"code":"constructor"}')
    })
    await assert.rejects(client(url).get('vip'), { code: 'ENGINE_UNAVAILABLE' })
  })

  it('keeps below the path of the URL, and sends its key', async () => {
    const seen: (string | undefined)[] = []
    const url = await stranger((request, response) => {
      seen.push(request.url, request.headers.authorization)
      response.end('{}')
    })
    await client(`${url}/guards/`, 'k').check('a:b@c', ['x', 'y'], { consistency: 'strong' })
    assert.deepEqual(seen, [
      '/guards/customers/a%3Ab%40c/check?allowlists=x%2Cy&consistency=strong',
      'Bearer k',
    ])
  })

  it('tells an export that is cut off from one that is complete', async () => {
    const url = await stranger((_, response) => {
      response.write('ann\n')
      setTimeout(() => response.destroy(), 20)
    })
    await assert.rejects(
      async () => {
        for await (const _ of client(url).export('vip'));
      },
      { code: 'ENGINE_UNAVAILABLE' },
    )
  })
})

describe('an upload', () => {
  it('hears a refusal that comes before its end, and stops sending', async () => {
    const url = await stranger((request, response) => {
      response.writeHead(409, { 'content-type': 'application/problem+json' })
      response.end('{"code":"REPLACE_IN_PROGRESS","detail":"later"}')
      request.resume()
    })
    let sent = 0
    async function* endless() {
      for (; ; sent++) yield new Uint8Array(64 * 1024)
    }
    await assert.rejects(client(url).import('vip', endless()), { code: 'REPLACE_IN_PROGRESS' })
    assert.ok(sent < 10_000)
  })

  it('counts what it sends', async () => {
    const url = await stranger((request, response) => {
      request.on('end', () => response.end('{"added":1}')).resume()
    })
    const seen: ImportProgress[] = []
    const onProgress = (progress: ImportProgress) => seen.push(progress)
    assert.deepEqual(await client(url).import('vip', chunks(3, 10), { onProgress }), { added: 1 })
    assert.deepEqual(seen.at(-1), { bytesRead: 30, rowsRead: 30, rowsAcknowledged: 0 })
  })

  it('is an interruption when it is aborted', async () => {
    const url = await stranger((request) => request.resume())
    const abort = new AbortController()
    async function* endless() {
      yield new Uint8Array(10)
      abort.abort()
      await new Promise(() => {})
    }
    const upload = client(url).import('vip', endless(), { signal: abort.signal })
    await assert.rejects(upload, { code: 'IMPORT_INTERRUPTED' })
    await assert.rejects(client(url).import('vip', chunks(1), { signal: abort.signal }), {
      code: 'IMPORT_INTERRUPTED',
    })
  })

  it('tells the failure of its source', async () => {
    const url = await stranger((request) => request.resume())
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10)
      throw Object.assign(new Error('the disk is gone'), { code: 'EIO' })
    }
    await assert.rejects(client(url).import('vip', broken()), /EIO/)
  })
})
