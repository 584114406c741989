// Every engine on every version of Node that is supported.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { installed, project, run, temporary } from './project.mjs'
import { withDynamo, withRedis } from './servers.mjs'

const program = join(project, 'smoke', 'smoke.mjs')
const credentials = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

export const NODES = { 20: process.execPath, 22: nodeOf(22), 24: nodeOf(24), 26: nodeOf(26) }

function nodeOf(version) {
  return join(installed, `node${version}`, 'bin', 'node')
}

export const engines = (version) => async () => {
  const smoke = (store) =>
    assert.match(
      run(NODES[version], [program, store], { cwd: temporary, env: credentials }),
      /all guards work/,
    )
  smoke('memory:')
  smoke(`embedded:${join(temporary, `data-${version}`)}`)
  await withRedis(smoke)
  await withDynamo(smoke)
  return run(NODES[version], ['--version']).trim()
}
