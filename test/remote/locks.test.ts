import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { runHeld } from '../../src/cli/commands/support/child-command.js'
import { createClient } from '../../src/client/index.js'
import { isCatracaError } from '../../src/core/errors.js'
import { callsOf } from '../../src/remote/calls.js'
import { RemoteLocks } from '../../src/remote/locks.js'
import { until } from '../server/support.js'

const TOKEN = 'x'.repeat(24)

describe('the locks of a server that has stopped answering', () => {
  let server: Server
  let locks: RemoteLocks
  const sockets = new Set<Socket>()
  before(async () => {
    server = createServer((socket) => sockets.add(socket.on('error', () => {})))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    locks = new RemoteLocks(callsOf(createClient({ url: `http://127.0.0.1:${port}` })), undefined, 50)
  })
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  it('are given up in time', async () => {
    const asked: Record<string, () => Promise<unknown>> = {
      acquire: () => locks.acquire('a'),
      extend: () => locks.extend('a', TOKEN),
      release: () => locks.release('a', TOKEN),
      status: () => locks.status('a'),
      'force release': () => locks.forceRelease('a'),
    }
    for (const [verb, ask] of Object.entries(asked)) {
      const late = new Promise((resolve) => setTimeout(resolve, 5000, 'still waiting').unref())
      const ended = await Promise.race([ask().catch((error) => error), late])
      assert.ok(isCatracaError(ended, 'ENGINE_UNAVAILABLE'), `${verb}: ${ended}`)
    }
  })
})

describe('a lock that came late', () => {
  it('is given back when its age cannot be told', async (t) => {
    const asked: string[] = []
    const server = createHttpServer((request, response) => {
      const verb = request.url!.split('/')[3] ?? 'acquire'
      asked.push(verb)
      if (verb !== 'acquire') return response.writeHead(verb === 'release' ? 204 : 502).end()
      const told = JSON.stringify({ token: TOKEN, fence: 1, expiresAt: new Date().toISOString() })
      return setTimeout(() => response.writeHead(201).end(told), 50)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as { port: number }
    const late = new RemoteLocks(callsOf(createClient({ url: `http://127.0.0.1:${port}` })))
    const failed = late.acquire('a', { ttlMs: 100 })
    await assert.rejects(failed, (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'))
    await until('it is given back', () => asked.includes('release'))
    assert.deepEqual(asked, ['acquire', 'extend', 'release'])
  })
})

describe('a command that is run under a lock without a fence', () => {
  it('does not get that of another lock', async () => {
    process.env.CATRACA_FENCE = '1794773367196000'
    try {
      const lock = { signal: new AbortController().signal } as Parameters<typeof runHeld>[1]
      const command = ['sh', '-c', 'test -z "$CATRACA_FENCE"']
      assert.equal(await runHeld(command, lock, undefined, 1000), 0)
    } finally {
      delete process.env.CATRACA_FENCE
    }
  })
})
