import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAscii, encodeCommand } from '../../../src/engines/redis/link/encode-command.js'

const whole = (args: (string | Buffer)[]): string =>
  Buffer.concat(encodeCommand(args).map((piece) => Buffer.from(piece as string))).toString()

describe('commands in the protocol of Redis', () => {
  it('are one text as long as all is ASCII', () => {
    assert.equal(encodeAscii(['GET', '', 'a b']), '*3\r\n$3\r\nGET\r\n$0\r\n\r\n$3\r\na b\r\n')
    const long = 'x'.repeat(300)
    assert.equal(encodeAscii([long]), `*1\r\n$300\r\n${long}\r\n`)
    assert.equal(whole(['GET', long]), encodeAscii(['GET', long]))
  })

  it('count bytes, not letters', () => {
    for (const text of ['é', '日本', '😀', '\ud800']) {
      assert.equal(encodeAscii(['SET', text]), undefined)
      assert.equal(
        whole(['SET', text]),
        `*2\r\n$3\r\nSET\r\n$${Buffer.byteLength(text)}\r\n${Buffer.from(text)}\r\n`,
      )
    }
  })

  it('pass bytes as they are, between texts', () => {
    const bytes = Buffer.from([0, 255, 13, 10])
    assert.equal(encodeAscii(['SET', bytes]), undefined)
    assert.deepEqual(encodeCommand(['SET', bytes, 'é']), [
      '*3\r\n$3\r\nSET\r\n$4\r\n',
      bytes,
      '\r\n$2\r\né\r\n',
    ])
  })
})
