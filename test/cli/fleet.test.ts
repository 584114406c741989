import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { until } from '../../src/conformance/support.js'
import type { FleetView } from '../../src/guards/fleet/types.js'
import { command, scratch, serve } from './run.js'

describe('the fleet', () => {
  const dir = scratch()
  after(() => dir.remove())
  const fleetOf = async (...where: string[]): Promise<FleetView> => {
    const { code, stdout, stderr } = await command(['fleet', '--json', ...where], { cwd: dir.path })
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as FleetView
  }
  const names = ({ processes }: FleetView) => processes.map(({ name }) => name)

  it('has every server and worker of a store, and loses those that end or die', async () => {
    const store = 'embedded:./data'
    const start = (name: string, ...args: string[]) =>
      serve(['--store', store, ...args], { cwd: dir.path, env: { CATRACA_FLEET_NAME: name } })
    const one = await start('one')
    const two = await start('two', '--workers', '2')
    await until('all are there', async () => (await fleetOf('--url', one.url)).processes.length === 3)
    const seen = await fleetOf('--url', two.url)
    assert.deepEqual(names(seen), ['one', 'two', 'two'])
    assert.ok(seen.processes.some(({ id, name }) => id === seen.self && name === 'two'))
    const { stdout } = await command(['fleet', '--store', store], { cwd: dir.path })
    assert.match(stdout, /^NAME +PID +VERSION .*\none /)
    assert.match(stdout, /\n3 processes, 0 checks\/s, 0 errors and 0 degraded answers in the last minute\n/)
    // A command that looks is not part of the fleet.
    assert.equal((await fleetOf('--store', store)).self, undefined)
    await two.stop()
    assert.deepEqual(names(await fleetOf('--store', store)), ['one'])
    one.child.kill('SIGKILL')
    await one.ended
    await until('the dead one is gone', async () => (await fleetOf('--store', store)).processes.length === 0)
  })

  it('prints what cannot be known of a process as unknown', async () => {
    const server = await serve(['--store', 'embedded:./odd'], { cwd: dir.path })
    writeFileSync(dir.file('odd/v2/fleet/odd'), `0 ${2 ** 52}\n{"name":"\\u001b[2Jodd","version":"\\u001bX"}`)
    const { code, stdout, stderr } = await command(['fleet', '--store', 'embedded:./odd'], { cwd: dir.path })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /\n\[2Jodd +0 +X +- /)
    assert.match(stderr, /mixed versions: .*X \(1\)/)
    assert.ok(!`${stdout}${stderr}`.includes('\u001b'))
    await server.stop()
  })

  it('writes nothing when it is switched off', async () => {
    const server = await serve(['--store', 'embedded:./off'], {
      cwd: dir.path,
      env: { CATRACA_FLEET_ENABLED: 'false' },
    })
    const { stderr } = await command(['fleet', '--url', server.url], { cwd: dir.path })
    assert.match(stderr, /switched off on this server \(fleet\.enabled\)/)
    assert.deepEqual((await fleetOf('--url', server.url)).processes, [])
    assert.equal(existsSync(dir.file('off/v2/fleet')), false)
    await server.stop()
  })
})
