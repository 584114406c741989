import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  isSameStore,
  parseStoreUrl,
  redactStoreUrl,
  STORE_URL_FORMS,
  type StoreUrl,
  storeFacts,
  storeSource,
  storeUrlOf,
} from '../../src/engines/registry.js'

const redis = { engine: 'redis', topology: 'single', tls: false, database: 0 } as const
const tables = {
  allowlists: 'Allowlists',
  giant: 'AllowlistsGiant',
  idempotency: 'mq-probe-idempotency',
  guards: 'catraca-guards',
}

/** What is written, what it means, and how it may be shown. */
const URLS: [string, StoreUrl, string][] = [
  ['memory:', { engine: 'embedded' }, 'memory:'],
  ['embedded:./d', { engine: 'embedded', path: './d' }, 'embedded:./d'],
  ['embedded:/var/d', { engine: 'embedded', path: '/var/d' }, 'embedded:/var/d'],
  ['embedded:///var/d', { engine: 'embedded', path: '/var/d' }, 'embedded:/var/d'],
  ['EMBEDDED:a?b', { engine: 'embedded', path: 'a?b' }, 'embedded:a?b'],
  ['redis://h', { ...redis, nodes: [{ host: 'h', port: 6379 }] }, 'redis://h:6379/0'],
  [
    'rediss://u:p%40ss@h:1/3',
    { ...redis, tls: true, nodes: [{ host: 'h', port: 1 }], database: 3, username: 'u', password: 'p@ss' },
    'rediss://u:***@h:1/3',
  ],
  [
    'redis://:p/w@d@[::1]:7',
    { ...redis, nodes: [{ host: '[::1]', port: 7 }], password: 'p/w@d' },
    'redis://:***@[::1]:7/0',
  ],
  [
    'redis+sentinel://:pw@h1:26379,h2/mymaster?db=2',
    {
      ...redis,
      topology: 'sentinel',
      nodes: [
        { host: 'h1', port: 26379 },
        { host: 'h2', port: 26379 },
      ],
      master: 'mymaster',
      database: 2,
      password: 'pw',
    },
    'redis+sentinel://:***@h1:26379,h2:26379/mymaster?db=2',
  ],
  [
    'redis+cluster://h1:7000,h2:7001?tls=true',
    {
      ...redis,
      topology: 'cluster',
      tls: true,
      nodes: [
        { host: 'h1', port: 7000 },
        { host: 'h2', port: 7001 },
      ],
    },
    'redis+cluster://h1:7000,h2:7001?tls=true',
  ],
  [
    'dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:8000',
    { engine: 'dynamodb', region: 'us-east-1', tables, endpoint: 'http://127.0.0.1:8000' },
    'dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:8000&giant=AllowlistsGiant&idempotency=mq-probe-idempotency&guards=catraca-guards',
  ],
  [
    'dynamodb://sa-east-1/Allowlists?giant=G-1&idempotency=I-1&guards=C-1',
    {
      engine: 'dynamodb',
      region: 'sa-east-1',
      tables: { allowlists: 'Allowlists', giant: 'G-1', idempotency: 'I-1', guards: 'C-1' },
    },
    'dynamodb://sa-east-1/Allowlists?giant=G-1&idempotency=I-1&guards=C-1',
  ],
]

const WRONG: [string, RegExp][] = [
  ['', /one of the forms/],
  ['./catraca-data', /one of the forms/],
  ['postgres://h', /one of the forms/],
  ['embedded:', /must name a directory/],
  ['embedded://host/d', /not a host/],
  ['embedded:a\0b', /zero byte/],
  ['memory:x', /must have nothing/],
  ['redis:h', /must have \/\//],
  ['redis://', /needs hosts/],
  ['redis://h:0', /needs hosts/],
  ['redis://h:99999', /needs hosts/],
  ['redis://h/x', /number of a database/],
  ['redis://a,b', /names one host/],
  ['redis://h?db=1', /unknown parameter "db"/],
  ['redis://:%zz@h', /percent-encoding/],
  ['redis+sentinel://h', /name of the master/],
  ['redis+sentinel://h/m?tls=maybe', /tls, which must be true or false/],
  ['redis+cluster://h/0', /must not name a database/],
  ['redis+cluster://h?tls=true&tls=true', /"tls" twice/],
  ['dynamodb:us-east-1', /must look like/],
  ['dynamodb://us-east-1', /table for allowlists/],
  ['dynamodb:///Table', /must begin with a region/],
  ['dynamodb://us-east-1/Ta ble', /table for allowlists/],
  ['dynamodb://us-east-1/Table?guards=x', /table for guards/],
  ['dynamodb://us-east-1/Table?endpoint=here', /not a URL/],
  ['dynamodb://us-east-1/Table?endpoint=ftp://h', /http:\/\/ or https/],
  ['dynamodb://us-east-1/Table?endpoint=http://a:b@h', /credentials/],
]

describe('store URLs', () => {
  for (const [text, meaning, shown] of URLS) {
    it(`reads ${text}`, () => {
      assert.deepEqual(parseStoreUrl(text), meaning)
      assert.equal(redactStoreUrl(text), shown)
      // What is shown means the same, but for the password.
      const { password: _, ...again } = parseStoreUrl(shown) as { password?: string }
      const { password: __, ...before } = meaning as { password?: string }
      assert.deepEqual(again, before)
    })
  }

  for (const [text, message] of WRONG) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseStoreUrl(text), { code: 'CONFIG_INVALID', message })
    })
  }

  it('never repeats a password in a refusal', () => {
    for (const text of ['redis://u:hunter2@h/x', 'redis://u:hunter2@', 'redis+cluster://:hunter2@h/1']) {
      assert.throws(
        () => parseStoreUrl(text),
        (error: Error) => !error.message.includes('hunter2'),
      )
    }
  })

  it('names every form when a scheme is unknown', () => {
    assert.throws(() => parseStoreUrl('postgres://h'), {
      message:
        'the store URL must have one of the forms embedded:DIRECTORY, memory:, redis://HOST:PORT/DATABASE, ' +
        'rediss://…, redis+sentinel://HOST:PORT,…/MASTER, redis+cluster://HOST:PORT,…, dynamodb://REGION/TABLE',
    })
    assert.equal(STORE_URL_FORMS.length, 7)
  })

  it('knows the same store in another spelling', () => {
    const same = [
      [`embedded:${process.cwd()}/d`, 'EMBEDDED:./d'],
      ['memory:', 'memory:'],
      ['redis://h', 'redis://h:6379/0'],
      ['dynamodb://us-east-1/Lists', 'dynamodb://us-east-1/Lists?guards=catraca-guards'],
    ] as const
    for (const [one, other] of same) assert.ok(isSameStore(one, other), one)
    const others = ['memory:', 'embedded:./d', 'embedded:./e', 'redis://h', 'rediss://h', 'redis://h/1']
    for (const one of others)
      assert.deepEqual(
        others.filter((other) => isSameStore(one, other)),
        [one],
      )
  })

  it('says what follows from the URL alone', () => {
    const facts = (text: string) => {
      const { hasPassword = false, isPrivate = false, keepsSecrets = false } = storeFacts(text)
      return { hasPassword, isPrivate, keepsSecrets }
    }
    assert.deepEqual(facts('memory:'), { hasPassword: false, isPrivate: true, keepsSecrets: true })
    assert.deepEqual(facts('embedded:./d'), { hasPassword: false, isPrivate: false, keepsSecrets: true })
    assert.deepEqual(facts('redis://:pw@h'), { hasPassword: true, isPrivate: false, keepsSecrets: false })
    assert.deepEqual(facts('dynamodb://us-east-1/Lists'), {
      ...{ hasPassword: false, isPrivate: false, keepsSecrets: false },
    })
    assert.equal(storeUrlOf('redis', 'memory:'), undefined)
    assert.equal(storeUrlOf('redis', 'redis://h')?.topology, 'single')
  })

  it('takes the options of its own engine', () => {
    const options = { redis: { poolSize: 2 }, embedded: { maxLogBytes: 1024 } }
    assert.deepEqual(storeSource('redis://h', options).options, { poolSize: 2 })
    assert.deepEqual(storeSource('memory:', options).options, { maxLogBytes: 1024 })
    assert.deepEqual(storeSource('dynamodb://us-east-1/Lists', options).options, {})
  })
})
