import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { isCatracaError } from '../../../src/core/errors.js'
import { BodySource } from '../../../src/guards/allowlist/import/source.js'
import { ImportStop } from '../../../src/guards/allowlist/import/stop.js'
import { pieces } from './bodies.js'

const limits = { maxExpandedBytes: 64 * 1024, maxExpansion: 20 }
const open = (
  body: AsyncIterable<Uint8Array>,
  gzip?: boolean,
  signal = new AbortController().signal,
): BodySource => new BodySource(body, { gzip, signal, limits })

async function readAll(source: BodySource): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source.chunks()) chunks.push(chunk.slice())
  return Buffer.concat(chunks).toString()
}

/** A body that gives these pieces and then nothing, for ever. */
function stuck(...given: Uint8Array[]): { body: AsyncIterable<Uint8Array>; wasLetGo: () => boolean } {
  let letGo = false
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      const value = given.shift()
      return value === undefined ? new Promise(() => {}) : { value, done: false }
    },
    return: async () => {
      letGo = true
      return { value: undefined, done: true }
    },
  }
  return { body: { [Symbol.asyncIterator]: () => iterator }, wasLetGo: () => letGo }
}

test('plain bytes pass as they are, and are counted', async () => {
  const source = open(pieces('hello\nworld', 3))
  assert.equal(await readAll(source), 'hello\nworld')
  assert.equal(source.bytesRead, 11)
  assert.equal(await readAll(open(pieces(''))), '')
  assert.equal(await readAll(open(pieces('\x1f', 1))), '\x1f')
})

test('gzip is recognised by its first bytes, however they are cut', async () => {
  const text = 'customer\n'.repeat(1000)
  const packed = gzipSync(text)
  for (const size of [1, 2, 10, 100_000]) {
    const source = open(pieces(packed, size))
    assert.equal(await readAll(source), text)
    assert.equal(source.bytesRead, packed.length)
  }
  assert.equal(await readAll(open(pieces(packed, 50), true)), text)
})

test('several gzip members in a row are one body', async () => {
  const packed = Buffer.concat([gzipSync('a\n'), gzipSync(''), gzipSync('b\n')])
  for (const size of [1, 5, 1000]) assert.equal(await readAll(open(pieces(packed, size))), 'a\nb\n')
})

test('gzip can be forbidden, and announced where there is none', async () => {
  const packed = gzipSync('a')
  assert.equal(await readAll(open(pieces(packed), false)), packed.toString())
  for (const body of ['', 'plain text']) {
    await assert.rejects(readAll(open(pieces(body), true)), (error) => isCatracaError(error, 'INVALID_INPUT'))
  }
})

test('truncated and corrupt gzip name the body', async () => {
  const packed = gzipSync(Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i) % 251)))
  for (const cut of [2, 9, 100, packed.length - 1]) {
    await assert.rejects(readAll(open(pieces(packed.subarray(0, cut)))), (error) => {
      assert.ok(isCatracaError(error, 'INVALID_INPUT'))
      assert.deepEqual(error.errors, [{ path: 'body', message: 'ends in the middle of its gzip data' }])
      return true
    })
  }
  const corrupt = Buffer.from(packed)
  corrupt[packed.length - 6]! ^= 0xff
  await assert.rejects(readAll(open(pieces(corrupt))), /body is not valid gzip/)
})

test('a bomb is refused soon after it passes both limits, however it arrives', async () => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
  for (const size of [500, bomb.length]) {
    const source = open(pieces(bomb, size))
    let expanded = 0
    await assert.rejects(
      async () => {
        for await (const chunk of source.chunks()) expanded += chunk.length
      },
      (error) => isCatracaError(error, 'PAYLOAD_TOO_LARGE'),
    )
    assert.ok(expanded <= limits.maxExpandedBytes + 64 * 1024, `${expanded} bytes came out`)
  }
  const dense = gzipSync(Buffer.alloc(limits.maxExpandedBytes))
  assert.equal((await readAll(open(pieces(dense, 100)))).length, limits.maxExpandedBytes)
})

test('an abort is felt at once, also while the body says nothing, and lets go of the body', async () => {
  for (const head of [Buffer.from('abc'), gzipSync('x'.repeat(100_000)).subarray(0, 60)]) {
    const { body, wasLetGo } = stuck(head)
    const stop = new AbortController()
    const reading = readAll(open(body, undefined, stop.signal))
    setImmediate(() => stop.abort(new ImportStop('lost')))
    await assert.rejects(reading, (error) => error instanceof ImportStop && error.reason === 'lost')
    await new Promise(setImmediate)
    assert.ok(wasLetGo())
  }
})

test('a reader that stops early lets go of the body', async () => {
  for (const head of [Buffer.from('abc'), gzipSync('x')]) {
    const { body, wasLetGo } = stuck(head)
    const stop = new AbortController()
    const source = open(body, undefined, stop.signal)
    if (head[0] === 0x61) {
      for await (const _ of source.chunks()) break
    } else {
      const reading = source.chunks().next()
      await new Promise(setImmediate)
      stop.abort(new ImportStop('input-cut'))
      await reading.catch(() => {})
    }
    await new Promise(setImmediate)
    assert.ok(wasLetGo())
  }
})

test('a body that fails is told apart from what is wrong with its content', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield gzipSync('hello').subarray(0, 12)
    throw new Error('connection reset')
  }
  await assert.rejects(readAll(open(failing())), (error) => {
    assert.ok(error instanceof ImportStop)
    assert.equal(error.reason, 'input-cut')
    assert.match(String(error.cause), /connection reset/)
    return true
  })
  const notBytes = Readable.from(['text']) as AsyncIterable<Uint8Array>
  await assert.rejects(readAll(open(notBytes)), /body must be a stream of bytes/)
})

test('no more is read than is asked for', async () => {
  for (const pack of [(text: Buffer) => text, (text: Buffer) => gzipSync(text, { level: 0 })]) {
    let given = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      const body = pack(Buffer.alloc(4 * 1024 * 1024, 'x'))
      for (let at = 0; at < body.length; at += 16_384) {
        given++
        yield body.subarray(at, at + 16_384)
      }
    }
    const source = open(endless())
    const chunks = source.chunks()
    await chunks.next()
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    assert.ok(given < 30, `${given} of 256 chunks were taken for one that was read`)
    await chunks.return(undefined)
  }
})

test('one huge piece is cut up', async () => {
  for await (const chunk of open(pieces(Buffer.alloc(1_000_000, 'x'), 1_000_000)).chunks()) {
    assert.ok(chunk.length <= 256 * 1024)
  }
})
