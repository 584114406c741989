import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { BEGIN, END, figuresOf, monthRows, withCounted } from '../../bench/support/cost-page.js'
import { countMonth } from '../../bench/support/dynamodb-month.js'
import { startDynamo } from '../support/dynamodb-server.js'

const root = new URL('../../../', import.meta.url)
const page = readFileSync(new URL('docs/cost.md', root), 'utf8')
const { figures } = JSON.parse(readFileSync(new URL('bench/results/proof-cost.json', root), 'utf8'))
const SOURCES_BILL = 780

describe('the cost of the source’s month', async () => {
  const server = await startDynamo()

  it('is on the page as the last run counted it', () => {
    assert.equal(withCounted(page, figures), page)
    assert.ok(page.split(BEGIN)[1]!.split(END)[0]!.includes('| **all** |'))
  })

  it('is at most what the source expects, in the default profile and below', () => {
    for (const profile of ['thrifty', 'default']) {
      assert.ok(figures[`${profile}: dollars a month`] <= SOURCES_BILL, profile)
    }
  })

  it('is counted the same by a short run with few lists', async () => {
    const month = await countMonth(server, 'default', {
      ...{ pods: 2, fixed: 2, waves: 3, addsPerSecond: 5 },
      seconds: 5,
    })
    const { units } = figuresOf('default', month)
    // What does not depend on the number of lists. In a short time an interval more or less weighs much.
    for (const verb of ['follow.read', 'keys', 'tokens', 'cache.watch']) {
      const name = `default: pod, ${verb}, units`
      const [now, then] = [units[name] ?? 0, figures[name]]
      assert.ok(now > 0.3 * then && now < 2 * then, `${name}: ${now}, not ${then}`)
    }
    const rows = monthRows(month)
    // One pod reads 5 records a second and the ends of 2 logs twice a second, however many pods there are.
    assert.ok(rows.get('records of lists')!.read < 5, JSON.stringify(rows.get('records of lists')))
    assert.ok(rows.get('logs')!.read < 8, JSON.stringify(rows.get('logs')))
    // An add alone is 5 and its audit entry 1; adds that wait together share some of it.
    const { write } = rows.get('adds')!
    assert.ok(write > 20 && write <= 65, `${write} write units for 10 adds`)
  })
})
