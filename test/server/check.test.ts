import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerJson } from '../../src/server/direct/answer.js'
import { parseTarget } from '../../src/server/direct/query.js'
import { type Answer, oneConnection, serveAll, type TestServer } from './support.js'

const UUID = '0F8FAD5B-D9CB-469F-A165-70867728950E'

async function seed({ catraca: { allowlists } }: TestServer): Promise<string> {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  const config = { strategy: 'PERCENTAGE', percentage: 1 } as const
  await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
  await allowlists.add('vip', UUID)
  return (await allowlists.add('vip', 'ana')).token
}

/** The same question asked plainly, and written so that it takes the long way. */
const LONG_WAY: [string, (path: string) => string][] = [
  ['an encoded comma', (path) => path.replaceAll(',', '%2C')],
  ['an encoded name', (path) => path.replace('allowlists=', 'allowlist%73=')],
  ['another parameter', (path) => `${path}&consistency=strong`],
]

const withoutMoment = ({ text }: Answer) =>
  text.replace(/"checkedAt":"[^"]*"/g, '').replace(/"requestId":"[^"]*"/, '')

let token: string
const seeded = serveAll(async (server) => {
  token = await seed(server)
})

describe('GET /customers/{customerId}/check', () => {
  it('answers list by list, in the order asked, also repeated', async () => {
    const server = seeded()
    const { status, headers, json } = await server.call(
      'GET',
      '/customers/ana/check?allowlists=wave,vip,nope,vip',
    )
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(json.customerId, 'ana')
    assert.equal(json.overallAllowed, false)
    const facts = json.results.map((result: Record<string, unknown>) => [
      result.allowlistId,
      result.allowed,
      result.type,
      result.reason,
    ])
    assert.deepEqual(facts, [
      ['wave', true, 'ONDA', 'IN_WAVE'],
      ['vip', true, 'FIXA', 'MEMBER'],
      ['nope', false, null, 'ALLOWLIST_NOT_FOUND'],
      ['vip', true, 'FIXA', 'MEMBER'],
    ])
    assert.equal('addedAt' in json.results[0], false)
    assert.match(json.results[1].addedAt, /^\d{4}-.*Z$/)
  })

  it('takes a repeated parameter as one list', async () => {
    const server = seeded()
    const { json } = await server.call('GET', '/customers/ana/check?allowlists=vip,wave&allowlists=vip')
    assert.deepEqual(
      json.results.map((result: { allowlistId: string }) => result.allowlistId),
      ['vip', 'wave', 'vip'],
    )
  })

  for (const [name, rewrite] of LONG_WAY) {
    it(`answers the same through the framework: ${name}`, async () => {
      const server = seeded()
      const questions = [
        '/customers/ana/check?allowlists=vip,wave',
        `/customers/${UUID}/check?allowlists=vip`,
        '/customers/nobody/check?allowlists=vip,nope',
        '/customers/a:b@c=d~e/check?allowlists=vip',
        '/customers/a,b/check?allowlists=vip',
        '/customers/ana/check?allowlists=a:b',
        '/customers/ana/check?allowlists=vip,,wave',
        `/customers/${'x'.repeat(300)}/check?allowlists=vip`,
        `/customers/ana/check?allowlists=${Array(101).fill('vip').join(',')}`,
      ]
      for (const question of questions) {
        assert.ok(parseTarget(question) !== undefined, `${question} is plain`)
        const plain = await server.call('GET', question)
        const long = await server.call('GET', rewrite(question))
        assert.equal(long.status, plain.status, question)
        assert.equal(withoutMoment(long), withoutMoment(plain), question)
        for (const header of ['content-type', 'cache-control']) {
          assert.equal(long.headers[header], plain.headers[header], `${header} of ${question}`)
        }
      }
    })
  }

  it('takes a plus for the space that it means in a query, and for itself in a path', async () => {
    const server = seeded()
    await server.catraca.allowlists.create({ id: 'a+b', name: 'Plus', type: 'FIXA' })
    await server.catraca.allowlists.add('a+b', 'x+y')
    for (const customer of ['ana', 'x+y']) {
      const { status, json } = await server.call('GET', `/customers/${customer}/check?allowlists=a+b`)
      assert.deepEqual([status, json.errors?.[0].path], [400, 'allowlists[0]'], customer)
    }
    const { json } = await server.call('GET', '/customers/x+y/check?allowlists=a%2Bb')
    assert.deepEqual([json.customerId, json.overallAllowed], ['x+y', true])
  })

  it('spells UUIDs in one way', async () => {
    const server = seeded()
    const { json } = await server.call('GET', `/customers/${UUID}/check?allowlists=vip`)
    assert.equal(json.customerId, UUID.toLowerCase())
    assert.equal(json.overallAllowed, true)
  })

  it('takes 100 lists and refuses 0 and 101', async () => {
    const server = seeded()
    const ask = (count: number) =>
      server.call('GET', `/customers/ana/check?allowlists=${Array(count).fill('vip')}`)
    assert.equal((await ask(100)).json.results.length, 100)
    for (const refused of [await ask(101), await ask(0), await server.call('GET', '/customers/ana/check')]) {
      assert.equal(refused.status, 400)
      assert.equal(refused.json.code, 'INVALID_INPUT')
      assert.match(refused.json.errors[0].path, /^allowlists/)
    }
  })

  it('asks the store when told to, and sees the write of a token', async () => {
    const server = seeded()
    for (const more of ['consistency=strong', `atLeast=${encodeURIComponent(token)}`]) {
      const { status, json } = await server.call('GET', `/customers/ana/check?allowlists=vip&${more}`)
      assert.equal(status, 200, more)
      assert.equal(json.overallAllowed, true)
    }
    for (const more of [
      'consistency=weak',
      'atLeast=forged',
      'unknown=1',
      'consistency=strong&consistency=strong',
    ]) {
      const { status, json } = await server.call('GET', `/customers/ana/check?allowlists=vip&${more}`)
      assert.equal(status, 400, more)
      assert.equal(json.code, 'INVALID_INPUT')
    }
  })

  it('keeps the connection and the order of pipelined questions', async (t) => {
    const server = seeded()
    const agent = oneConnection(t)
    const paths = [
      '/customers/ana/check?allowlists=vip',
      '/live',
      '/customers/bob/check?allowlists=vip%2Cwave',
    ]
    const sockets = new Set<unknown>()
    server.app.server.on('connection', (socket) => sockets.add(socket))
    const answers = await Promise.all(paths.map((path) => server.call('GET', path, { agent })))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.equal(sockets.size, 1)
  })

  it('ignores a body that comes with the question', async (t) => {
    const server = seeded()
    const agent = oneConnection(t)
    const call = {
      agent,
      body: '{"x":1}',
      headers: { 'content-type': 'application/json', 'content-length': 7 },
    }
    for (let i = 0; i < 3; i++) {
      const { status, json } = await server.call('GET', '/customers/ana/check?allowlists=vip', call)
      assert.equal(status, 200)
      assert.equal(json.overallAllowed, true)
    }
  })
})

describe('POST /check', () => {
  it('answers customer by customer', async () => {
    const server = seeded()
    const body = { customerIds: ['bob', 'ana', 'ana'], allowlists: ['vip', 'wave'] }
    const { status, headers, json } = await server.call('POST', '/check', { body })
    assert.equal(status, 200)
    assert.match(headers['content-type']!, /^application\/json/)
    const verdicts = json.results.map((one: Record<string, unknown>) => [one.customerId, one.overallAllowed])
    assert.deepEqual(verdicts, [
      ['bob', false],
      ['ana', true],
      ['ana', true],
    ])
  })

  it('takes 1,000 customers with the longest ids, and at most 20,000 pairs', async () => {
    const server = seeded()
    const customerIds = Array.from({ length: 1000 }, (_, i) => String(i).padStart(256, 'x'))
    const fits = await server.call('POST', '/check', {
      body: { customerIds, allowlists: Array(20).fill('vip') },
    })
    assert.equal(fits.status, 200)
    assert.equal(fits.json.results.length, 1000)
    const refused = [
      { customerIds, allowlists: Array(21).fill('vip') },
      { customerIds: [...customerIds, 'more'], allowlists: ['vip'] },
      { customerIds: ['ana'], allowlists: Array(101).fill('vip') },
      { customerIds: [], allowlists: ['vip'] },
      { customerIds: ['ana'], allowlists: [] },
      { customerIds: ['ana'] },
      { customerIds: 'ana', allowlists: ['vip'] },
      { customerIds: ['ana', 1], allowlists: ['vip'] },
      { customerIds: ['ana'], allowlists: ['vip'], more: 1 },
    ]
    for (const body of refused) {
      const { status, json } = await server.call('POST', '/check', { body })
      assert.equal(status, 400, JSON.stringify(body).slice(0, 100))
      assert.equal(json.code, 'INVALID_INPUT')
      assert.ok(json.errors.length > 0)
    }
  })
})

describe('answerJson', () => {
  it('is what JSON.stringify makes', () => {
    const at = '2024-06-13T12:00:00.000Z'
    const answer = {
      customerId: 'a.b_c~d:e@f+g=h-i',
      results: [
        { allowlistId: 'x', allowed: true, type: 'FIXA', reason: 'MEMBER', checkedAt: at, addedAt: at },
        { allowlistId: 'y', allowed: false, type: null, reason: 'ALLOWLIST_NOT_FOUND', checkedAt: at },
      ],
      overallAllowed: false,
    } as const
    const mutable = structuredClone(answer) as unknown as Parameters<typeof answerJson>[0]
    assert.equal(answerJson(mutable), JSON.stringify(answer))
    assert.equal(answerJson({ ...mutable, results: [] }), JSON.stringify({ ...answer, results: [] }))
  })
})
