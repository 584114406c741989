import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { serve } from '../../server/support.js'
import { temporaryDirectory } from '../../support/temporary.js'

const built = fileURLToPath(new URL('../../../console/', import.meta.url))
const page = readFileSync(join(built, 'index.html'), 'utf8')
/** What a browser loads before anything is shown. */
const first = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map((match) => match[1]!)

const FIRST_LOAD_BYTES = 250_000

describe('the files of the console', () => {
  it('are small enough at the first load', () => {
    assert.ok(first.some((name) => name.endsWith('.js')) && first.some((name) => name.endsWith('.css')))
    // What would not become smaller is sent as it is.
    const sent = (name: string) => [`${name}.gz`, name].find((file) => existsSync(join(built, file)))!
    const sizeBytes = first.reduce((sum, name) => sum + readFileSync(join(built, sent(name))).length, 0)
    assert.ok(sizeBytes < FIRST_LOAD_BYTES, `${sizeBytes} bytes with gzip`)
  })

  it('come compressed as asked, never change under their name, and are not sent twice', async (t) => {
    const server = await serve(t)
    const path = `/console/${first[0]}`
    const plain = readFileSync(join(built, first[0]!))
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
    const etags = new Set<string>()
    for (const encoding of ['br', 'gzip'] as const) {
      assert.deepEqual(
        unpack[encoding](readFileSync(join(built, `${first[0]}.${encoding === 'br' ? 'br' : 'gz'}`))),
        plain,
      )
      const accept = encoding === 'br' ? 'gzip, deflate, br' : 'gzip, br;q=0'
      const { status, headers } = await server.call('GET', path, { headers: { 'accept-encoding': accept } })
      assert.deepEqual(
        [status, headers['content-encoding'], headers.vary],
        [200, encoding, 'accept-encoding'],
      )
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      etags.add(headers.etag!)
      for (const known of [`"x", ${headers.etag}`, `W/${headers.etag}`, '*']) {
        const again = { 'accept-encoding': accept, 'if-none-match': known }
        assert.equal((await server.call('GET', path, { headers: again })).status, 304, known)
      }
    }
    const { text, headers } = await server.call('GET', path)
    assert.equal(text, plain.toString())
    assert.equal(headers['content-encoding'], undefined)
    etags.add(headers.etag!)
    assert.equal(etags.size, 3)
  })

  it('are guarded by a strict policy, with another nonce each time', async (t) => {
    const server = await serve(t)
    const nonces = new Set<string>()
    for (const path of ['/console', '/console/', '/console/check', '/console/allowlists/vip']) {
      const { status, headers, text } = await server.call('GET', path)
      assert.equal(status, 200, path)
      const policy = String(headers['content-security-policy'])
      const nonce = /style-src 'self' 'nonce-([\w-]{24})'/.exec(policy)![1]!
      assert.ok(text.includes(`nonce="${nonce}"`))
      nonces.add(nonce)
      assert.ok(policy.startsWith("default-src 'none'; script-src 'self'; "), policy)
      for (const part of ['connect-src', 'frame-ancestors', 'base-uri', 'form-action'])
        assert.ok(policy.includes(part))
      assert.ok(!policy.includes('unsafe'))
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
      assert.ok(headers['permissions-policy'])
    }
    assert.equal(nonces.size, 4)
  })

  it('are only those that were built', async (t) => {
    const server = await serve(t)
    for (const path of ['/console/none.js', '/console/assets/none', '/console/.built-from']) {
      const { status, json, headers } = await server.call('GET', path)
      assert.deepEqual([status, json?.code], [404, 'ROUTE_NOT_FOUND'], path)
      assert.match(String(headers['content-security-policy']), /^default-src 'none'/, path)
      assert.equal(headers['x-frame-options'], 'DENY')
    }
    for (const path of [
      '/console/../package.json',
      '/console/%2e%2e/package.json',
      '/console/allowlists/a.b',
    ]) {
      const { status, text } = await server.call('GET', path)
      assert.equal(status, 200, path)
      assert.ok(text.startsWith('<!doctype html>'), path)
    }
    assert.ok(existsSync(join(built, '.built-from')))
  })

  it('may be absent: the rest works, and the console says what to do', async (t) => {
    const server = await serve(t, { consoleDir: temporaryDirectory() })
    const { status, json } = await server.call('GET', '/console')
    assert.deepEqual([status, json.code], [404, 'ROUTE_NOT_FOUND'])
    assert.match(json.detail, /npm run build/)
    assert.equal((await server.call('GET', '/live')).status, 200)
  })

  it('are refused to strangers on a server without keys', async (t) => {
    const server = await serve(t)
    const { status } = await server.call('GET', '/console', { headers: { host: 'catraca.example' } })
    assert.equal(status, 403)
  })
})
