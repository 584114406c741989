import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { SERVER_DEFAULTS } from '../../src/server/options.js'
import { assertCommand, assertSettings, inRoot, read, settingsIn } from '../support/deploy-names.js'

const unit = read('deploy/systemd/catraca.service')
const PROGRAM = '/usr/bin/node /opt/catraca/bin/catraca.js'

function values(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!)
}

/** What systemd-analyze says of the unit, with paths of this machine in it; undefined where there is none. */
function analyze(test: TestContext, ...args: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-unit-'))
  try {
    const file = join(directory, 'catraca.service')
    writeFileSync(file, unit.replace(PROGRAM, `${process.execPath} ${inRoot('bin/catraca.js')}`))
    const { error, status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], {
      encoding: 'utf8',
    })
    if (error === undefined) return { status, output: stdout + stderr }
    test.diagnostic('systemd-analyze is not on this machine: the unit was not verified')
    return undefined
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('systemd unit', () => {
  it('starts a command that exists with settings that exist', () => {
    const [start] = values('ExecStart')
    assert.ok(start!.startsWith(`${PROGRAM} `))
    assertCommand(start!.slice(PROGRAM.length + 1))
    assertSettings(settingsIn(unit))
  })

  it('hands over every secret that it names', () => {
    const loaded = [...unit.matchAll(/LoadCredential=([\w-]+):/g)].map((match) => match[1]!)
    const named = [...unit.matchAll(/_FILE=%d\/([\w-]+)/g)].map((match) => match[1]!)
    assert.deepEqual(named, loaded)
    assert.ok(loaded.length >= 3)
  })

  it('writes only into directories of its own, as a user of its own', () => {
    assert.deepEqual(values('DynamicUser'), ['yes'])
    assert.deepEqual(values('ProtectSystem'), ['strict'])
    assert.match(unit, /CATRACA_STORE=embedded:\/var\/lib\/catraca\n/)
    assert.deepEqual([values('StateDirectory'), values('CacheDirectory')], [['catraca'], ['catraca']])
    assert.deepEqual(values('CapabilityBoundingSet'), [''])
  })

  it('waits at the stop for as long as the server may take', () => {
    const [seconds] = values('TimeoutStopSec').map((value) => Number(value.replace('s', '')))
    assert.ok(seconds! * 1000 > SERVER_DEFAULTS.shutdownTimeoutMs + 2000)
    assert.ok(Number(values('LimitNOFILE')[0]) >= 65_536)
  })

  it('is a unit that systemd takes', (test) => {
    const verified = analyze(test, 'verify')
    if (verified !== undefined) assert.deepEqual([verified.status, verified.output], [0, ''])
  })

  it('leaves little to whoever takes the process over', (test) => {
    const judged = analyze(test, 'security', '--offline=yes')
    if (judged === undefined) return
    const level = Number(/exposure level for catraca\.service: ([\d.]+)/.exec(judged.output)?.[1])
    assert.ok(level < 2, `exposure ${level}`)
  })
})
