import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { parse } from 'yaml'
import { CREDENTIALS_ENV as env, startDynamo } from '../support/dynamodb-server.js'
import { command, scratch, start } from './run.js'

interface Exported {
  lists: Record<string, { name: string }>
  resources: Record<string, { limits: { rpm: { capacity: number } } }>
}

const server = await startDynamo('dynoxide')
const dir = scratch()
after(() => dir.remove())
const run = (store: string, ...args: string[]) =>
  command(['config', ...args, '--store', store], { cwd: dir.path, env })

async function newStore(): Promise<string> {
  const store = server.url(server.names())
  const { code, stderr } = await command(['dynamodb', 'create', '--store', store], { env })
  assert.equal(code, 0, stderr)
  return store
}

function file(name: string, lists: number, limits: number, value: number): string {
  const lines = (count: number, of: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `  ${of(i)}\n`).join('')
  writeFileSync(
    dir.file(name),
    [
      `lists:\n${lines(lists, (i) => `l${i}: { name: "${value}" }`)}`,
      `waves:\n  last: { name: "${value}", config: { strategy: PERCENTAGE, percentage: 0.5, base: l${lists - 1} } }\n`,
      `resources:\n${lines(limits, (i) => `r${i}: { limits: { rpm: { capacity: ${value}, refillPeriodSeconds: 60 } } }`)}`,
    ].join(''),
  )
  return name
}

/** Applies the file and kills the command so long after it has shown the last change. */
async function killed(store: string, name: string, last: string, delayMs: number): Promise<Exported> {
  const { child, ended, said } = start(['config', 'apply', name, '--store', store], {
    ...{ cwd: dir.path, env, input: '' },
  })
  const kill = () => setTimeout(() => child.kill('SIGKILL'), delayMs)
  await Promise.race([said(new RegExp(`${last}\\b`), 'stdout').then(kill, () => {}), ended])
  await ended
  return parse((await run(store, 'export')).stdout) as Exported
}

describe('configuration as a file on DynamoDB', () => {
  it('is whole or unchanged, kind by kind, whenever apply is killed, as long as a transaction is enough', async () => {
    const store = await newStore()
    assert.equal((await run(store, 'apply', file('first.yaml', 40, 30, 1))).code, 0)
    for (const [i, delayMs] of [0, 15, 40, 100].entries()) {
      const name = file('next.yaml', 40, 30, i + 2)
      const { lists, resources } = await killed(store, name, 'resource r29', delayMs)
      const names = new Set(Object.values(lists).map((list) => list.name))
      const capacities = new Set(Object.values(resources).map(({ limits }) => limits.rpm.capacity))
      assert.deepEqual([names.size, capacities.size], [1, 1], `killed after ${delayMs} ms`)
    }
    assert.equal((await run(store, 'apply', 'next.yaml')).code, 0)
    assert.equal((await run(store, 'plan', 'next.yaml', '--prune', '--exit-code')).code, 0)
  })

  it('of a larger kind has each record whole, lists before waves, and a second apply makes the rest', async () => {
    const store = await newStore()
    const name = file('large.yaml', 150, 100, 1)
    const { lists = {}, waves } = (await killed(store, name, 'resource r99', 60)) as Exported & {
      waves?: object
    }
    assert.ok(Object.values(lists).every((list) => list.name === '1'))
    if ((waves as { last?: object } | undefined)?.last !== undefined)
      assert.equal(Object.keys(lists).length, 150)
    const { code, stderr } = await run(store, 'apply', name)
    assert.equal(code, 0, stderr)
    assert.equal((await run(store, 'plan', name, '--prune', '--exit-code')).code, 0)
  })
})
