import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from './support/pages.js'

const { downloadAddresses, refusals } = await import(
  new URL('../../scripts/release-refusals.mjs', import.meta.url).href
)

const ready = {
  version: '1.2.0',
  status: '',
  changelog: '# Changes\n\n## 1.2.0 (2030-01-01)\n\n- A change.\n',
  locks: { 'package-lock.json': '{ "version": "1.2.0" }' },
}
const refusedFor = (change: Partial<typeof ready>): string[] => refusals({ ...ready, ...change })

describe('a version that is to be published', () => {
  it('is refused for what its files say', () => {
    assert.deepEqual(refusedFor({}), [])
    assert.match(refusedFor({ status: ' M a.ts\n' })[0]!, /not committed/)
    assert.match(refusedFor({ changelog: '## 1.2.01\n' })[0]!, /no entry "## 1\.2\.0"/)
    assert.match(refusedFor({ changelog: `## Unreleased\n\n${ready.changelog}` })[0]!, /Unreleased/)
    const older = { 'package-lock.json': '{ "version": "1.1.0" }' }
    assert.match(refusedFor({ locks: older })[0]!, /version 1\.1\.0/)
  })

  it('is refused when a lock file says where packages are downloaded', () => {
    const address = 'https://packages.example/a.tgz'
    const locks = { 'package-lock.json': `{ "version": "1.2.0", "resolved": "${address}" }` }
    assert.deepEqual(refusedFor({ locks }), [`package-lock.json names a download address: ${address}`])
  })
})

for (const folder of ['.', 'test/compat', 'test/emulators']) {
  it(`the lock file of ${folder} names no download address`, () => {
    assert.deepEqual(downloadAddresses(readFileSync(join(root, folder, 'package-lock.json'), 'utf8')), [])
  })
}
