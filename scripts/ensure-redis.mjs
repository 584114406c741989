// The tests run real Redis servers. Without redis-server on the PATH it is installed when that is possible, else the
// run fails and says how: a test of an engine is never skipped.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

const COMMAND = 'apt-get update && apt-get install -y redis-server'
/** Debian asks this program whether a service may be started: 101 is "no". */
const POLICY = '/usr/sbin/policy-rc.d'

export function ensureRedisServer() {
  if (hasRedisServer()) return
  const isRoot = process.getuid?.() === 0
  const hasApt = spawnSync('apt-get', ['--version']).error === undefined
  if (isRoot && hasApt) install()
  if (hasRedisServer()) return
  console.error('The tests need redis-server 7 or later on the PATH. Install it (as root) by:')
  console.error(`  ${COMMAND}`)
  console.error('The service that the package starts is not needed: systemctl disable --now redis-server')
  process.exit(1)
}

function hasRedisServer() {
  const { status, stdout } = spawnSync('redis-server', ['--version'])
  const major = /v=(\d+)/.exec(String(stdout ?? ''))?.[1]
  if (status === 0 && Number(major) < 7) console.error(`redis-server ${major} is too old`)
  return status === 0 && Number(major) >= 7
}

function install() {
  console.error(`redis-server is not on the PATH: ${COMMAND}`)
  const forbidStart = !existsSync(POLICY)
  if (forbidStart) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('sh', ['-c', COMMAND], { stdio: ['ignore', 2, 2], env })
  } finally {
    if (forbidStart) rmSync(POLICY)
  }
}
