// The tests run real Redis servers. When redis-server is not on the PATH, it is installed if possible; otherwise the
// run fails with instructions: engine tests are never skipped.
import { spawnSync } from 'node:child_process'
import { installCommand, installPackage } from './debian-package.mjs'

const PACKAGE = 'redis-server'

export function ensureRedisServer() {
  if (hasRedisServer()) return
  installPackage(PACKAGE)
  if (hasRedisServer()) return
  console.error('The tests need redis-server 7 or later on the PATH. Install it (as root) by:')
  console.error(`  ${installCommand(PACKAGE)}`)
  console.error('The service that the package starts is not needed: systemctl disable --now redis-server')
  process.exit(1)
}

function hasRedisServer() {
  const { status, stdout } = spawnSync('redis-server', ['--version'])
  const major = /v=(\d+)/.exec(String(stdout ?? ''))?.[1]
  if (status === 0 && Number(major) < 7) console.error(`redis-server ${major} is too old`)
  return status === 0 && Number(major) >= 7
}
