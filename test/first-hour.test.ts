import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { root } from './support/pages.js'
import { Fatal, until } from './support/redis/process.js'

/** The one block of a page that holds a text. */
function blockWith(page: string, text: string): string {
  const blocks = readFileSync(join(root, page), 'utf8').split(/^```/m)
  const found = blocks.filter((block) => /^(js|ts)\n/.test(block) && block.includes(text))
  assert.equal(found.length, 1, `${found.length} blocks of ${page} with ${text}`)
  return found[0]!.slice(3)
}

/** As users run it, but over a store that leaves nothing behind. In the root, where `catraca` is this package. */
async function commandOf(code: string, type = 'module'): Promise<[string[], { cwd: string }]> {
  const inMemory = code.replace("'embedded:./catraca-data'", "'memory:'")
  assert.notEqual(inMemory, code)
  const js =
    type === 'module' ? (await transform(inMemory, { loader: 'ts', target: 'node20' })).code : inMemory
  return [[`--input-type=${type}`, '--eval', js], { cwd: root }]
}

async function output(code: string, type?: string): Promise<string> {
  const [args, options] = await commandOf(code, type)
  return (await promisify(execFile)(process.execPath, args, options)).stdout
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await promisify(server.close.bind(server))()
  return port
}

describe('the programs of a first hour, as the pages have them', () => {
  it('ten lines', async () => {
    assert.equal(await output(blockWith('docs/README.md', 'may pass')), 'may pass\n')
  })

  it('a script in CommonJS', async () => {
    const script = blockWith('docs/guides/getting-started.md', "require('catraca')")
    assert.match(await output(script, 'commonjs'), /^at work with fence \d+\n$/)
  })

  it('a class that gets its guards', async () => {
    const use = `
      import { isCatracaError, manualClock, openCatraca } from 'catraca'
      const catraca = await openCatraca({ store: 'embedded:./catraca-data', clock: manualClock() })
      const payments = new Payments(catraca.limits, catraca.idempotency, catraca.cache)
      const first = await payments.pay('ann', 'k-1', 100)
      console.log(!Number.isNaN(Date.parse(first)), (await payments.pay('ann', 'k-1', 100)) === first)
      console.log(await payments.pay('ann', 'k-1', 101))
      const denied = (error) => isCatracaError(error, 'QUOTA_EXCEEDED') && error.facts.retryAfterMs > 0
      for (let i = 0, asked = 3; i <= 10; i++, asked++)
        await payments.pay('ann', 'other-' + i, 1).catch((error) => console.log(asked, denied(error)))
      await catraca.close()`
    const code = blockWith('docs/guides/getting-started.md', 'class Payments').replace(
      'export class',
      'class',
    )
    assert.equal(await output(code + use), 'true true\nrefused\n10 true\n11 true\n12 true\n13 true\n')
  })

  for (const framework of ['express', 'fastify', 'hono']) {
    it(`an API on ${framework}`, async () => {
      const port = await freePort()
      const code = blockWith(
        'docs/guides/frameworks.md',
        `{ allow, idempotency, rateLimit } from 'catraca/${framework}'`,
      )
      const listening = code
        .replace('3000', String(port))
        .replace('serve(app)', `serve({ fetch: app.fetch, port: ${port} })`)
      const [args, options] = await commandOf(listening)
      const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'inherit', 'pipe'] })
      after(() => child.kill('SIGKILL'))
      const said: string[] = []
      child.stderr.on('data', (chunk) => said.push(String(chunk)))
      const pay = () =>
        fetch(`http://127.0.0.1:${port}/payments`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1' },
          body: '{"amount":10}',
        }).catch(() => undefined)
      let first: Response | undefined
      await until('it answers', async () => {
        if (child.exitCode !== null) throw new Fatal(said.join(''))
        first = await pay()
        return first !== undefined
      })
      const second = (await pay())!
      assert.deepEqual([first!.status, second.status], [201, 201])
      assert.equal(await second.text(), await first!.text())
      assert.deepEqual(
        [first, second].map((one) => one!.headers.get('idempotency-replayed')),
        [null, 'true'],
      )
      assert.match(second.headers.get('ratelimit') ?? '', /^"perMinute";r=9[89];t=\d+$/)
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
  }
})
