import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Item } from '../../../src/engines/dynamodb/client/attributes.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import { NoticeLog } from '../../../src/engines/dynamodb/rate-limit/notice-log.js'
import { Notices } from '../../../src/engines/dynamodb/rate-limit/notices.js'
import { RateLimits } from '../../../src/guards/rate-limit/index.js'
import { DEFAULT_LIMITS } from '../../../src/guards/rate-limit/options.js'
import type { ConfigKey, Level, LevelConfig } from '../../../src/guards/rate-limit/types.js'
import { until } from '../../server/support.js'
import { atEnd } from '../../support/at-end.js'
import { LimitsServer } from '../../support/dynamodb-limits.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const limits = new LimitsServer(await startDynamo())
const table = await limits.table()
const [one, two] = [limits.open(table), limits.open(table)]
const raw = limits.server.client()
atEnd(() => Promise.all([one.close(), two.close()]))

const system = (resource: string): ConfigKey => ({ level: 'system', resource })
const resource = (name: string): ConfigKey => ({ level: 'resource', resource: name })
const entity = (id: string, name: string): ConfigKey => ({ level: 'entity', entity: id, resource: name })
const put = (item: Item) => raw.putItem('test', { TableName: table, Item: item })
const readOne = async (key: ConfigKey) => (await two.configs.read([key], undefined)).configs[0]

async function partition(PK: string): Promise<Item[]> {
  const { items } = await raw.query('test', {
    TableName: table,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': { S: PK } },
  })
  return items
}

const TPM = {
  resource: { S: 'gpt-4' },
  limit_name: { S: 'tpm' },
  capacity: { N: '10000' },
  burst: { N: '10000' },
  refill_amount: { N: '10000' },
  refill_period_seconds: { N: '60' },
}
const LIMIT = { capacity: 10_000, burst: 10_000, refillAmount: 10_000, refillPeriodSeconds: 60 }

describe('records of configuration', () => {
  it('are the flat ones of the source', async () => {
    const config: LevelConfig = { limits: { tpm: LIMIT }, onUnavailable: 'block' }
    await one.configs.write(system('gpt-4'), { ...config, autoUpdate: true, strictVersion: true })
    await one.configs.write(resource('gpt-4'), { limits: { tpm: LIMIT }, onUnavailable: 'allow' })
    await one.configs.write(entity('premium-user-1', 'gpt-4'), {
      // Other programs may write a burst beside any algorithm.
      limits: { tpm: { ...LIMIT, algorithm: 'fixed-window' as never, mode: 'shadow' }, rpm: {} },
    })
    const flags = { auto_update: { BOOL: true }, strict_version: { BOOL: true } }
    const SK = { S: '#LIMIT#gpt-4#tpm' }
    assert.deepEqual(await partition('SYSTEM#'), [
      { PK: { S: 'SYSTEM#' }, SK, ...TPM, on_unavailable: { S: 'block' }, ...flags },
    ])
    assert.deepEqual(await partition('RESOURCE#gpt-4'), [
      { PK: { S: 'RESOURCE#gpt-4' }, SK, ...TPM, on_unavailable: { S: 'allow' } },
    ])
    const PK = { S: 'ENTITY#premium-user-1' }
    assert.deepEqual(await partition(PK.S), [
      { PK, SK: { S: '#LIMIT#gpt-4#rpm' }, resource: { S: 'gpt-4' }, limit_name: { S: 'rpm' } },
      { PK, SK, ...TPM, algorithm: { S: 'fixed-window' }, mode: { S: 'shadow' } },
    ])
  })

  it('of other programs are read, whatever else they hold, and the more careful of two holds', async () => {
    const PK = { S: 'RESOURCE#foreign' }
    const flat = { ...TPM, resource: { S: 'foreign' }, burst: { NULL: true }, note: { S: 'theirs' } }
    const SK = (name: string) => ({ S: `#LIMIT#foreign#${name}` })
    await put({ PK, SK: SK('rpm'), ...flat, on_unavailable: { S: 'block' }, strict_version: { BOOL: true } })
    await put({ PK, SK: SK('tpm'), ...flat, on_unavailable: { S: 'allow' }, auto_update: { BOOL: true } })
    await put({ PK, SK: SK('xpm'), ...flat, auto_update: { BOOL: false } })
    const { burst: _, ...limit } = LIMIT
    assert.deepEqual(await readOne(resource('foreign')), {
      limits: { rpm: limit, tpm: limit, xpm: limit },
      onUnavailable: 'block',
      strictVersion: true,
      autoUpdate: false,
    })
  })

  it('that cannot be used are named, and leave those beside them alone', async () => {
    const bad: Item[] = [
      { capacity: { N: '0.5' } },
      { capacity: { S: 'many' } },
      { algorithm: { S: 'x' } },
      { data: { S: '{"capacity":9}' } },
    ]
    for (const [i, wrong] of bad.entries()) {
      const name = `bad-${i}`
      const PK = { S: `RESOURCE#${name}` }
      await put({ PK, SK: { S: `#LIMIT#${name}#x` }, ...wrong })
      await put({ PK, SK: { S: `#LIMIT#${name}#y` }, ...TPM, on_unavailable: { S: 'ALLOW' } })
      const { unreadable, ...config } = (await readOne(resource(name)))!
      assert.deepEqual(config, { limits: { y: LIMIT }, onUnavailable: 'allow' })
      assert.equal(
        unreadable!.x,
        `${Object.keys(wrong)[0]} of RESOURCE#${name} #LIMIT#${name}#x cannot be used`,
      )
    }
    await put({
      PK: { S: 'RESOURCE#odd' },
      SK: { S: '#LIMIT#odd#x' },
      ...TPM,
      on_unavailable: { S: 'maybe' },
    })
    assert.equal((await readOne(resource('odd')))!.onUnavailable, 'block')
  })

  it('of a limit that cannot be used refuse the calls that name it, and no others', async (t) => {
    const clock = { now: () => 1_900_000_000_000 }
    const guard = new RateLimits({ engine: two, clock, options: DEFAULT_LIMITS, report: () => {} })
    t.after(() => guard.close())
    const PK = { S: 'RESOURCE#half' }
    await put({ PK, SK: { S: '#LIMIT#half#tpm' }, ...TPM })
    await put({ PK, SK: { S: '#LIMIT#half#rpm' }, capacity: { N: '-1' } })
    const ask = (consume?: Record<string, number>) =>
      guard.acquire({ entity: 'ann', resource: 'half', ...(consume && { consume }) })
    assert.equal((await ask({ tpm: 5 })).allowed, true)
    const refused = { code: 'LIMIT_UNREADABLE', message: /^capacity of RESOURCE#half #LIMIT#half#rpm / }
    await assert.rejects(ask({ rpm: 1 }), refused)
    await assert.rejects(ask(), refused)
    const { unreadable, limits } = await guard.resolveConfig('ann', 'half')
    assert.deepEqual([Object.keys(unreadable!), Object.keys(limits)], [['rpm'], ['tpm']])
  })

  it('of the nested form are read', async () => {
    const { limit_name: _, resource: __, ...fields } = TPM
    await put({
      PK: { S: 'ENTITY#nested' },
      SK: { S: '#LIMIT#gpt-4#tpm' },
      data: { M: { ...fields, on_unavailable: { S: 'allow' } } },
    })
    assert.deepEqual(await readOne(entity('nested', 'gpt-4')), {
      limits: { tpm: LIMIT },
      onUnavailable: 'allow',
    })
  })

  it('of other programs are listed once they were used, or looked for', async () => {
    const row = (PK: string, name: string) => put({ PK: { S: PK }, SK: { S: `#LIMIT#${name}#tpm` }, ...TPM })
    await row('ENTITY#seen', 'theirs')
    await row('ENTITY#unseen:1', 'theirs')
    await row('RESOURCE#theirs', 'theirs')
    await row('SYSTEM#', 'theirs')
    await put({ PK: { S: 'ENTITY#bad' }, SK: { S: '#LIMIT#theirs#tpm' }, capacity: { N: '0' } })
    const listed = async (level: Level, scan = false) => {
      const { items } = await two.configs.list(level, { limit: 1000, scan })
      const wanted = items.filter(({ key }) => key.resource === 'theirs')
      return wanted.map(({ key, config }) => [
        key.level === 'entity' ? key.entity : '',
        Object.keys(config.unreadable ?? config.limits).join(),
      ])
    }
    await readOne(entity('seen', 'theirs'))
    await until('it is listed', async () => (await listed('entity')).length === 1)
    assert.deepEqual(await listed('entity', true), [
      ['bad', 'tpm'],
      ['seen', 'tpm'],
      ['unseen:1', 'tpm'],
    ])
    assert.deepEqual([await listed('resource'), await listed('system')], [[['', 'tpm']], [['', 'tpm']]])
  })

  it('beside others in a partition leave them alone', async () => {
    const PK = { S: 'ENTITY#shared' }
    const others = ['#AUDIT#1', '#BUCKET#r#x', '#LIMIT#r.2#x', '#META', '#LIMIT#'].map((SK) => ({
      PK,
      SK: { S: SK },
    }))
    for (const item of others) await put(item)
    const bare: LevelConfig = { limits: {}, onUnavailable: 'allow' }
    await one.configs.write(entity('shared', 'r'), bare)
    const { configs, entity: record } = await two.configs.read([entity('shared', 'r')], 'shared')
    assert.deepEqual([configs, record], [[bare], undefined])
    await one.configs.remove(entity('shared', 'r'))
    assert.equal((await partition(PK.S)).length, others.length)
  })

  it('are replaced whole, also more than a transaction holds', async () => {
    const PK = { S: 'RESOURCE#many' }
    await Promise.all(
      Array.from({ length: 130 }, (_, i) =>
        put({ PK, SK: { S: `#LIMIT#many#old-${i}` }, capacity: { N: '1' } }),
      ),
    )
    const config: LevelConfig = { limits: { rpm: { capacity: 5 } } }
    await one.configs.write(resource('many'), config)
    assert.deepEqual(await readOne(resource('many')), config)
    assert.equal((await partition(PK.S)).length, 1)
  })

  it('of two who write at once are those of one of them', async () => {
    const of = (name: string): LevelConfig => ({ limits: { [name]: { capacity: 1 }, [`${name}2`]: {} } })
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0 ? one : two).configs.write(resource('raced'), of(`w${i}`)),
      ),
    )
    const names = Object.keys((await readOne(resource('raced')))!.limits)
    assert.equal(names.length, 2)
    assert.equal(names[1], `${names[0]}2`)
  })
})

describe('what configuration costs', () => {
  it('is half a read unit for each level, however many limits it has, parent included', async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`l${i}`, { capacity: 5 }]))
    await one.configs.write(system('priced'), { limits: many })
    await one.configs.write(resource('priced'), { limits: many })
    await one.configs.write(entity('payer', 'priced'), { limits: many })
    await one.configs.writeEntity('payer', { parent: 'p', cascade: true })
    const stop = two.configs.watch(() => {})
    const keys = [system('priced'), resource('priced'), entity('payer', 'priced')]
    // Just after a change it is read for certain, which costs twice as much.
    await until('changes have settled', async () => {
      two.counts.reset()
      const { configs, entity: record } = await two.configs.read(keys, 'payer')
      assert.equal(configs.filter((config) => Object.keys(config!.limits).length === 8).length, 3)
      assert.deepEqual(record, { parent: 'p', cascade: true })
      return two.counts.of('limit.config').readUnits === 1.5
    })
    assert.equal(two.counts.of('limit.config').calls, 3)
    const nobody = [entity('nobody', 'priced'), entity('nobody', '*')]
    await until('the default for all resources costs nothing more', async () => {
      two.counts.reset()
      await two.configs.read([system('priced'), resource('priced'), ...nobody], 'nobody')
      return two.counts.of('limit.config').readUnits === 1.5
    })
    stop()
  })

  it('stays small for an entity with limits of very many resources', async () => {
    for (let i = 0; i < 45; i++) {
      await put({ PK: { S: 'ENTITY#wide' }, SK: { S: `#LIMIT#r${i}#x` }, capacity: { N: '1' } })
    }
    await one.configs.writeEntity('wide', { parent: 'p', cascade: false })
    const { configs, entity: record } = await two.configs.read([entity('wide', 'r44')], 'wide')
    assert.deepEqual(
      [configs, record],
      [[{ limits: { x: { capacity: 1 } } }], { parent: 'p', cascade: false }],
    )
  })
})

describe('notices', () => {
  it('tell which configuration changed, and which subject was freed', async () => {
    const heard: unknown[] = []
    const listening = limits.open(table)
    listening.configs.watch((key) => heard.push(key))
    listening.counters.watch((freed) => heard.push(freed))
    await until('the first look', async () => heard.length === 2)
    assert.deepEqual(heard.splice(0), [undefined, undefined])
    const key = entity('a:b', 'r')
    const subject = { entity: 'a:b', resource: 'r' }
    await one.configs.write(key, { limits: { x: {} } })
    await one.counters.reset(subject)
    await until('both were heard', async () => heard.length === 2)
    // Each kind has its own order.
    assert.deepEqual(new Set(heard.splice(0)), new Set([key, subject]))
    // A number without a notice: whoever sent it died, or the notice is gone.
    for (const kind of ['config', 'freed']) {
      await raw.updateItem(
        'test',
        {
          TableName: table,
          Key: { PK: { S: 'LIMITS#NOTICES' }, SK: { S: `HEAD#${kind}` } },
          UpdateExpression: 'ADD #n :one',
          ExpressionAttributeNames: { '#n': 'number' },
          ExpressionAttributeValues: { ':one': { N: '1' } },
        },
        { repeatable: false },
      )
    }
    await until('both were heard', async () => heard.length === 2)
    assert.deepEqual(heard.splice(0), [undefined, undefined])
    await listening.close()
  })

  it('are looked for less often where nobody asks for limits', async (test) => {
    test.mock.timers.enable({ apis: ['setInterval'] })
    const counts = new CapacityCounts()
    const client = limits.server.client({ counter: counts })
    let now = 0
    const notices = new Notices(new NoticeLog({ client, table, timeoutMs: 1000 }, Date.now), () => now)
    const looks = () => counts.of('limit.watch').calls
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 750) {
        now += 750
        test.mock.timers.tick(750)
        await client.getItem('test', { TableName: table, Key: { PK: { S: 'x' }, SK: { S: 'x' } } })
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    notices.onConfig(() => {})
    await until('the first look', async () => looks() === 1)
    await pass(7500)
    assert.ok(looks() >= 8, `${looks()} looks`)
    now += 300_001
    await pass(750)
    const before = looks()
    await pass(30_000)
    assert.ok(looks() - before <= 2, `${looks() - before} looks of an idle process`)
    const idle = looks()
    notices.used()
    await until('it looks at once', async () => looks() === idle + 1)
    await notices.close()
  })

  it('are numbered, and end', async () => {
    const items = (await partition('LIMITS#NOTICES')).filter(({ SK }) => !SK!.S!.startsWith('HEAD#'))
    assert.ok(items.length > 5)
    for (const { SK, ttl } of items) {
      assert.match(SK!.S!, /^(config|freed)#\d{16}$/)
      assert.ok(Number(ttl!.N) * 1000 > Date.now())
    }
  })
})
