import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Environment } from '../../../src/engines/embedded/lmdb/environment.js'
import { createGate } from '../../../src/engines/embedded/lmdb/exit-gate.js'
import { LimitRows } from '../../../src/engines/embedded/rate-limit/rows.js'

const directory = mkdtempSync(join(tmpdir(), 'catraca-rows-'))
const subject = { entity: 'user', resource: 'api' }
const open = () => {
  const settings = { directory, durability: 'process', minFreeBytes: 0, maxLogBytes: 1_000_000 } as const
  const environment = Environment.open({ ...settings, isShared: true, gate: createGate() })
  return { environment, rows: new LimitRows(environment) }
}
const [one, other] = [open(), open()]
after(async () => {
  await one.environment.close()
  await other.environment.close()
  rmSync(directory, { recursive: true })
})

/** One transaction: reads the row, and where a number is given writes it. Answers what it read. */
function visit({ environment, rows }: typeof one, used?: number, isFailing = false): number {
  return environment.writeNow(() => {
    rows.open()
    const opened = rows.opened(subject)
    const before = opened.row[0]
    if (used !== undefined) rows.change(opened, [['rpm', [0, used]]], used)
    rows.store()
    if (isFailing) throw new Error('as asked')
    return before
  })
}

describe('rows that are kept from one transaction to the next', () => {
  it('are those that were written', () => {
    visit(one, 1)
    assert.equal(visit(one, 2), 1)
    assert.equal(visit(one), 2)
  })

  it('are read again when somebody else has written', () => {
    visit(one, 10)
    visit(other, 11)
    assert.equal(visit(one), 11)
  })

  it('are read again also behind a transaction that changed nothing', () => {
    visit(one, 20)
    visit(one)
    visit(other, 21)
    assert.equal(visit(one), 21)
  })

  it('are dropped with a transaction that failed', () => {
    visit(one, 30)
    assert.throws(() => visit(one, 31, true))
    assert.equal(visit(one), 30)
    assert.throws(() => visit(one, 31, true))
    visit(other, 32)
    assert.equal(visit(one), 32)
  })

  it('are read once as long as nobody else writes', () => {
    visit(one, 40)
    const { limitStates } = one.environment
    const get = limitStates.get.bind(limitStates)
    let reads = 0
    limitStates.get = (...args) => {
      reads++
      return get(...args)
    }
    for (let used = 41; used < 50; used++) visit(one, used)
    assert.equal(reads, 0)
    visit(other, 50)
    assert.equal(visit(one), 50)
    assert.equal(reads, 1)
  })
})
