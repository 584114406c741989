import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Fed, ResponseParser } from '../../../src/cli/load/response-parser.js'

interface Case {
  name: string
  text: string
  status: number
  body: string
  keepsOpen?: boolean
}

const CASES: Case[] = [
  {
    name: 'a length',
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    ...{ status: 200, body: 'hello' },
  },
  {
    name: 'chunks, an extension and a trailer',
    text: 'HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nb\r\n, \r\n\r\nworld\r\n0\r\nx: y\r\n\r\n',
    ...{ status: 409, body: 'hello, \r\n\r\nworld' },
  },
  {
    name: 'no body, said by the status',
    text: 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n',
    ...{ status: 204, body: '' },
  },
  { name: 'an empty body', text: 'HTTP/1.1 201 \r\ncontent-length: 0\r\n\r\n', status: 201, body: '' },
  {
    name: 'an interim answer before it',
    text: 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
    ...{ status: 200, body: 'ok', keepsOpen: false },
  },
]

function feedBy(size: number, text: string, parser: ResponseParser): Fed {
  const bytes = Buffer.from(text, 'latin1')
  let fed: Fed = 'more'
  for (let at = 0; at < bytes.length; at += size) {
    assert.equal(fed, 'more', `over at byte ${at} of ${bytes.length}`)
    fed = parser.feed(bytes.subarray(at, at + size))
  }
  return fed
}

describe('response parser', () => {
  const parser = new ResponseParser()
  for (const { name, text, status, body, keepsOpen = true } of CASES) {
    it(`reads ${name}, in pieces of every size`, () => {
      for (let size = 1; size <= text.length; size++) {
        parser.begin(true)
        assert.equal(feedBy(size, text, parser), 'done', `in pieces of ${size}`)
        assert.deepEqual([parser.status, parser.body, parser.keepsOpen], [status, body, keepsOpen])
      }
    })
  }

  it('keeps no body that nobody reads', () => {
    parser.begin(false)
    assert.equal(feedBy(3, CASES[0]!.text, parser), 'done')
    assert.equal(parser.body, '')
  })

  it('takes an answer without a length until the close', () => {
    parser.begin(true)
    assert.equal(feedBy(4, 'HTTP/1.1 200 OK\r\n\r\nall of it', parser), 'more')
    assert.deepEqual([parser.endsByClose, parser.body], [true, 'all of it'])
  })

  const bad = {
    'no HTTP': 'SSH-2.0-OpenSSH\r\n\r\n',
    'more than one answer': `${CASES[0]!.text}${CASES[0]!.text}`,
    'more behind the chunks': `${CASES[1]!.text}x`,
    'a chunk without a size': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'a chunk longer than it says': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n',
    'an endless head': `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`,
  }
  for (const [name, text] of Object.entries(bad)) {
    it(`refuses ${name}`, () => {
      parser.begin(true)
      assert.equal(parser.feed(Buffer.from(text, 'latin1')), 'bad')
    })
  }
})
