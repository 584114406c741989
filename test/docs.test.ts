import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../src/config/schema.js'
import { ERROR_CODES } from '../src/core/errors.js'

const generator = fileURLToPath(new URL('../../scripts/generate-docs.mjs', import.meta.url))
const dist = fileURLToPath(new URL('..', import.meta.url))
const page = (name: string) =>
  readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8')

describe('reference pages', () => {
  it('are what the generator makes of the code', () => {
    const { status, stderr } = spawnSync(process.execPath, [generator, '--check', '--dist', dist], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('hold every setting and every error', () => {
    const config = page('config')
    for (const [path, { env }] of SETTINGS) {
      assert.ok(config.includes(`\`${path}\``) && config.includes(`\`${env}\``), path)
    }
    const errors = page('errors')
    for (const code of Object.keys(ERROR_CODES))
      assert.match(errors, new RegExp(`\`${code}\` +\\| [45]\\d\\d +\\|`))
  })

  it('show every command', () => {
    const cli = page('cli')
    for (const name of ['serve', 'check', 'allowlist import', 'allowlist ramp', 'key create'])
      assert.ok(cli.includes(`## catraca ${name}\n`), name)
  })
})
