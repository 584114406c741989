import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { openPatiently } from '../support/patient.js'
import { RedisProcess } from '../support/redis/index.js'
import { command, scratch, start } from './run.js'

const COUNT = 1000

/** As many lists, waves, limits and parents, with names that a file or an object could get wrong. */
function large(name = 'List'): string {
  const lines = (of: (i: number) => string) =>
    Array.from({ length: COUNT }, (_, i) => `  ${of(i)}\n`).join('')
  return [
    `lists:\n${lines((i) => `"${i}": { name: "${name} ${i}" }`)}`,
    'waves:\n',
    '  __proto__: { name: W, config: { strategy: PERCENTAGE, percentage: 0.5, base: "7" } }\n',
    '  last: { name: W, config: { strategy: PERCENTAGE, percentage: 0.5, exclude: [__proto__] } }\n',
    `resources:\n${lines((i) => `r${i}: { limits: { rpm: { capacity: ${i + 1}, refillPeriodSeconds: 60 } } }`)}`,
    'parents:\n  "1": { parent: org }\n',
  ].join('')
}

async function countsOf(store: string): Promise<{ lists: number; limits: number }> {
  const catraca = await openPatiently({ store })
  try {
    const { items } = await catraca.limits.listConfigs({ level: 'resource', limit: 1000 })
    let lists = 0
    let cursor: string | undefined
    do {
      const page = await catraca.allowlists.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
      lists += page.items.length
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return { lists, limits: items.length }
  } finally {
    await catraca.close()
  }
}

describe('configuration as a file', () => {
  const dir = scratch()
  const run = (store: string, ...args: string[]) =>
    command(['config', ...args, '--store', store], { cwd: dir.path })
  before(() => writeFileSync(dir.file('large.yaml'), large()))
  after(() => dir.remove())

  it('is the same on a copy, and a second apply changes nothing', async () => {
    const applied = await run('embedded:./one', 'apply', 'large.yaml')
    assert.deepEqual([applied.code, applied.stderr.split('\n').slice(-2)[0]], [0, '2003 records changed'])
    for (const args of [
      ['export', '--out', 'exported.yaml'],
      ['plan', 'exported.yaml', '--prune', '--exit-code'],
      ['apply', 'large.yaml'],
    ]) {
      const { code, stdout, stderr } = await run('embedded:./one', ...args)
      assert.deepEqual([code, stdout], [0, ''], stderr)
    }
    assert.equal((await run('embedded:./two', 'apply', 'exported.yaml')).code, 0)
    await run('embedded:./two', 'export', '--out', 'again.yaml')
    assert.equal(
      readFileSync(dir.file('again.yaml'), 'utf8'),
      readFileSync(dir.file('exported.yaml'), 'utf8'),
    )
    const { lists, resources } = parse(readFileSync(dir.file('again.yaml'), 'utf8')) as Record<string, object>
    assert.deepEqual([Object.keys(lists!).length, Object.keys(resources!).length], [COUNT, COUNT])
  })

  it('is whole or unchanged, kind by kind, whenever apply is killed', async () => {
    writeFileSync(dir.file('other.yaml'), large('Other').replaceAll('Seconds: 60', 'Seconds: 61'))
    for (const delayMs of [0, 50, 200]) {
      const { child, ended, said } = start(['config', 'apply', 'other.yaml', '--store', 'embedded:./one'], {
        cwd: dir.path,
        input: '',
      })
      await said(/change resource r999/, 'stdout')
      setTimeout(() => child.kill('SIGKILL'), delayMs)
      await ended
      const catraca = await openPatiently({ store: `embedded:${dir.file('one')}` })
      const lists = await catraca.allowlists.list({ limit: 1000 })
      const { items } = await catraca.limits.listConfigs({ level: 'resource', limit: 1000 })
      await catraca.close()
      const names = new Set(
        lists.items.filter(({ type }) => type === 'FIXA').map(({ name }) => name.split(' ')[0]),
      )
      const periods = new Set(items.map(({ config }) => config.limits.rpm!.refillPeriodSeconds))
      assert.deepEqual([names.size, periods.size], [1, 1], `killed after ${delayMs} ms`)
    }
    const { code, stderr } = await run('embedded:./one', 'apply', 'other.yaml')
    assert.equal(code, 0, stderr)
    assert.equal((await run('embedded:./one', 'plan', 'other.yaml', '--exit-code')).code, 0)
  })

  it('on Redis, each kind is whole after a kill, and a second apply makes the rest', async () => {
    const redis = await RedisProcess.start()
    try {
      const store = `redis://127.0.0.1:${redis.port}`
      for (const delayMs of [0, 20, 60, 150]) {
        const { child, ended, said } = start(['config', 'apply', 'large.yaml', '--store', store], {
          cwd: dir.path,
          input: '',
        })
        // Once all is made, it has nothing to say.
        const kill = () => setTimeout(() => child.kill('SIGKILL'), delayMs)
        await Promise.race([said(/create resource r999/, 'stdout').then(kill, () => {}), ended])
        await ended
        const { lists, limits } = await countsOf(store)
        assert.ok([0, COUNT].includes(limits), `${limits} limits after ${delayMs} ms`)
        assert.ok([0, COUNT + 2].includes(lists), `${lists} lists after ${delayMs} ms`)
      }
      const { code, stderr } = await run(store, 'apply', 'large.yaml')
      assert.equal(code, 0, stderr)
      assert.equal((await run(store, 'plan', 'large.yaml', '--prune', '--exit-code')).code, 0)
    } finally {
      await redis.stop()
    }
  })

  it('refuses a plan after somebody else changed a record of it, and names the record', async () => {
    const store = 'embedded:./three'
    writeFileSync(
      dir.file('small.yaml'),
      'lists:\n  a: { name: A }\n  b: { name: B }\nsystem:\n  api: { onUnavailable: allow }\n',
    )
    await run(store, 'plan', 'small.yaml', '--out', 'plan.json')
    const set = ['config', 'set', '--level', 'system', '--resource', 'api', '--on-unavailable', 'block']
    await command([...set, '--store', store], { cwd: dir.path })
    const refused = await run(store, 'apply', '--plan', 'plan.json', '--json')
    assert.equal(refused.code, 1)
    const problem = JSON.parse(refused.stderr) as { code: string; conflicts: string[]; changed: number }
    assert.deepEqual(
      [problem.code, problem.conflicts, problem.changed],
      ['VERSION_MISMATCH', ['system api'], 0],
    )
    // The kind before it was made, whole.
    const again = await run(store, 'plan', 'small.yaml')
    assert.match(
      again.stdout,
      /^change system api\n {2}- onUnavailable: block\n {2}\+ onUnavailable: allow\n$/,
    )
  })

  it('holds the labels of lists, and clears those that it does not name', async () => {
    const store = 'embedded:./labels'
    const labels = 'tags: [pix, beta], owner: ana, description: For partners'
    writeFileSync(dir.file('labels.yaml'), `lists: { a: { name: A, ${labels} }, b: { name: B } }`)
    assert.equal((await run(store, 'apply', 'labels.yaml')).code, 0)
    const exported = async () => parse((await run(store, 'export')).stdout) as { lists: { a: object } }
    assert.deepEqual((await exported()).lists.a, {
      ...{ name: 'A', tags: ['beta', 'pix'], owner: 'ana', description: 'For partners' },
    })
    writeFileSync(dir.file('labels.yaml'), 'lists: { a: { name: A, owner: bia } }')
    assert.equal((await run(store, 'apply', 'labels.yaml')).code, 0)
    assert.deepEqual((await exported()).lists.a, { name: 'A', owner: 'bia' })
    assert.equal((await run(store, 'plan', 'labels.yaml', '--exit-code')).code, 0)
    writeFileSync(dir.file('labels.yaml'), 'lists: { a: { name: A, tags: ["no spaces"] } }')
    const refused = await run(store, 'apply', 'labels.yaml')
    assert.deepEqual(
      [refused.code, /list a: tags\[0\] must be/.test(refused.stderr)],
      [2, true],
      refused.stderr,
    )
  })

  it('deletes a list that has members only when told so', async () => {
    const store = 'embedded:./three'
    await command(['allowlist', 'add', 'a', 'ann', '--store', store], { cwd: dir.path })
    writeFileSync(dir.file('gone.yaml'), 'lists: { b: { name: B } }')
    const refused = await run(store, 'apply', 'gone.yaml', '--prune')
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--with-members must be given to delete list a: it has 1 customer/)
    const { code, stdout } = await run(store, 'apply', 'gone.yaml', '--prune', '--with-members')
    assert.deepEqual([code, stdout.split('\n')[0]], [0, 'delete list a (it has 1 customer)'])
  })

  it('deletes no list that got members after the plan, unless told so', async () => {
    const store = 'embedded:./late'
    writeFileSync(dir.file('late.yaml'), 'lists: { a: { name: A } }')
    assert.equal((await run(store, 'apply', 'late.yaml')).code, 0)
    writeFileSync(dir.file('late.yaml'), 'lists: { a: null }')
    assert.equal((await run(store, 'plan', 'late.yaml', '--out', 'late.json')).code, 0)
    await command(['allowlist', 'add', 'a', 'ann', '--store', store], { cwd: dir.path })
    const refused = await run(store, 'apply', '--plan', 'late.json')
    assert.equal(refused.code, 2, refused.stdout)
    assert.match(refused.stderr, /--with-members must be given to delete list a: it has 1 customer/)
    const { code } = await run(store, 'apply', '--plan', 'late.json', '--with-members')
    assert.equal(code, 0)
  })

  it('takes names as they are written, and one name once in any spelling', async () => {
    const store = 'embedded:./names'
    const names = ['01234567890', '12345678901234567890', '1e3', '0x10', 'null', '1.10', '2020-01-01']
    writeFileSync(dir.file('names.yaml'), `lists:\n${names.map((id) => `  ${id}: { name: L }\n`).join('')}`)
    assert.equal((await run(store, 'apply', 'names.yaml')).code, 0)
    const { lists } = parse((await run(store, 'export')).stdout) as { lists: object }
    assert.deepEqual(Object.keys(lists).sort(), [...names].sort())
    assert.equal((await run(store, 'plan', 'names.yaml', '--prune', '--exit-code')).code, 0)
    for (const twice of ['  123: { name: A }\n  "123": { name: B }', '  a: { name: A }\n  a: { name: B }']) {
      writeFileSync(dir.file('twice.yaml'), `lists:\n${twice}\n`)
      const { code, stderr } = await run(store, 'plan', 'twice.yaml')
      assert.deepEqual([code, /must be unique/.test(stderr)], [2, true], stderr)
    }
  })

  it('refuses a file that would grow, and what is no mapping', async () => {
    const store = 'embedded:./names'
    const grown = [...'bcdefghi'].map(
      (name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[i]}`).join(', ')}]`,
    )
    const files = [
      ['a: &a [1, 2, 3]', ...grown].join('\n'),
      `lists: ${'['.repeat(20_000)}`,
      'lists: [a]',
      '- a',
    ]
    for (const content of files) {
      writeFileSync(dir.file('bad.yaml'), content)
      const { code, stdout, stderr } = await run(store, 'plan', 'bad.yaml')
      assert.deepEqual([code, stdout], [2, ''], stderr)
    }
  })

  it('has a schema that accepts what an export writes, and refuses what apply refuses', async () => {
    const { stdout } = await command(['config', 'schema'])
    const schema = JSON.parse(stdout) as object
    const accepts = new Ajv2020({ strict: false }).compile(schema)
    const { stdout: exported } = await run('embedded:./one', 'export')
    assert.ok(accepts(parse(exported)), JSON.stringify(accepts.errors))
    for (const wrong of [
      { list: {} },
      { lists: { a: { config: {} } } },
      { waves: { a: { name: 'A' } } },
      { waves: { a: { name: 'A', config: { strategy: 'NONE' } } } },
      { resources: { a: { limits: { rpm: { capacity: 'many' } } } } },
      { parents: { a: {} } },
    ]) {
      assert.equal(accepts(wrong), false, JSON.stringify(wrong))
      writeFileSync(dir.file('wrong.json'), JSON.stringify(wrong))
      assert.equal((await run('embedded:./three', 'plan', 'wrong.json')).code, 2)
    }
    assert.equal(readFileSync('docs/reference/config-file.schema.json', 'utf8'), stdout)
  })
})
