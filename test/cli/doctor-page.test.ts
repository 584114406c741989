import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { allChecks } from '../../src/cli/doctor/all-checks.js'

const page = readFileSync(new URL('../../../docs/guides/doctor.md', import.meta.url), 'utf8')

describe('the page on doctor', () => {
  it('lists every check with what it wants and what to do, and no other', async () => {
    const checks = await allChecks()
    const expected = checks.map(({ id, expects: wants, remedy }) => `| \`${id}\` | ${wants} | ${remedy} |`)
    const rows = page.split('\n').filter((line) => /^\| `[a-z]+\.[a-z-]+` \|/.test(line))
    assert.deepEqual(rows, expected)
    assert.equal(new Set(checks.map(({ id }) => id)).size, checks.length, 'ids are unique')
    assert.ok(checks.length > 45)
  })
})
