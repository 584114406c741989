// The suite of keyv for stores, in a project of its own: it asks for native builds, which are not made here.
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { emptyProject, node, project } from './project.mjs'
import { withRedis } from './servers.mjs'

const PACKAGES = ['keyv@5', '@keyv/test-suite@2', 'vitest@4']

export async function keyvSuite(tarball) {
  const folder = emptyProject('keyv-suite', [tarball, ...PACKAGES])
  cpSync(join(project, 'keyv'), folder, { recursive: true })
  const suite = (store) => {
    const command = join(folder, 'node_modules', 'vitest', 'vitest.mjs')
    const said = node([command, 'run', '--root', folder], {
      cwd: folder,
      env: { STORE: store, NO_COLOR: '1' },
    })
    const [, passed] = /Tests +(\d+) passed/.exec(said) ?? []
    // All but the one that is left out.
    assert.ok(Number(passed) >= 30, said)
    return passed
  }
  const embedded = suite(`embedded:${join(folder, 'data')}`)
  const redis = await withRedis((store) => suite(store))
  return `${embedded} cases on embedded, ${redis} on Redis`
}
