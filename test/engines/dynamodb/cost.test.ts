import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { countUnits } from '../../../bench/support/dynamodb-units.js'
import { countIdempotencyUnits } from '../../../bench/support/idempotency-dynamodb.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const page = readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8')
const ROUNDED_BY = 0.05
/** Of a replace on a busy machine 0.19 instead of 0.04 was seen once, for a reason that is not known. */
const REPLACE_READS_VARY_BY = 0.25

function operations(heading = '## For each operation'): Map<string, { read: number; write: number }> {
  const section = page.split(`${heading}\n`)[1]!.split('\n\n- ')[0]!
  const rows = [...section.matchAll(/^\| (.+) \| ([\d.]+) \| ([\d.]+) \|$/gm)]
  return new Map(rows.map(([, name, read, write]) => [name!, { read: Number(read), write: Number(write) }]))
}

/** Sums such as `40 × 2 / 20 = 4`, from left to right as one reads them, products first. */
function sums(): { text: string; left: number; right: number }[] {
  const texts = [...page.matchAll(/`([\d.]+ [×/+][\d. ×/+]* = [\d.]+)`/g)].map((match) => match[1]!)
  return texts.map((text) => {
    const [left = '', right] = text.split(' = ')
    const terms = left.split(' + ').map((term) => {
      const [first, ...rest] = term.split(' ')
      let value = Number(first)
      for (let i = 0; i < rest.length; i += 2) {
        if (rest[i] === '×') value *= Number(rest[i + 1])
        else value /= Number(rest[i + 1])
      }
      return value
    })
    return { text, left: terms.reduce((sum, term) => sum + term, 0), right: Number(right) }
  })
}

describe('docs/cost.md', async () => {
  const server = await startDynamo()

  it('has the units that each operation uses', async () => {
    const told = operations()
    const counted = await countUnits(server)
    assert.deepEqual([...told.keys()], Object.keys(counted))
    for (const [name, { read, write }] of Object.entries(counted)) {
      const says = told.get(name)!
      const readsMay = name.startsWith('replace') ? REPLACE_READS_VARY_BY : ROUNDED_BY
      assert.ok(Math.abs(read - says.read) <= readsMay, `${name}: ${read} read units, not ${says.read}`)
      assert.ok(
        Math.abs(write - says.write) <= ROUNDED_BY,
        `${name}: ${write} write units, not ${says.write}`,
      )
    }
  })

  it('has the units of idempotency', async () => {
    const counted = await countIdempotencyUnits(server)
    assert.deepEqual(Object.fromEntries(operations('## Idempotency')), counted)
  })

  it('adds up', () => {
    const all = sums()
    assert.ok(all.length > 20, `${all.length} sums`)
    for (const { text, left, right } of all) {
      assert.ok(Math.abs(left - right) <= Math.max(0.5, 0.005 * right), `${text}, but it makes ${left}`)
    }
  })

  it('adds up what the month takes in a second, and carries it over', () => {
    for (const kind of ['read', 'write']) {
      const table = page.split(`| ${kind} units a second |`)[1]!.split('\n\n')[0]!
      const rows = table.split('\n').filter((row) => /^\| .* \| [*\d]/.test(row))
      const cells = rows.map((row) => row.replaceAll('*', '').split(' | ').slice(1).map(Number.parseFloat))
      const all = cells.pop()!
      for (const [column, sum] of all.entries()) {
        const added = cells.reduce((total, row) => total + row[column]!, 0)
        assert.ok(Math.abs(added - sum) < 0.06, `${kind} units, column ${column}: ${added}, not ${sum}`)
        assert.ok(page.includes(`\`${sum} × 2.6 × `), `${kind} units, column ${column}: ${sum}`)
      }
    }
  })
})
