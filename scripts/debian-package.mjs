// Installs system packages that the tests need, if possible: as root, on Debian.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Debian calls this program to ask whether a service may start; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d'

export const installCommand = (name) => `apt-get update && apt-get install -y ${name}`

export function installPackage(name) {
  const isRoot = process.getuid?.() === 0
  const hasApt = spawnSync('apt-get', ['--version']).error === undefined
  if (!isRoot || !hasApt) return
  console.error(`${name} is not there: ${installCommand(name)}`)
  const forbidStart = !existsSync(POLICY)
  if (forbidStart) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync('sh', ['-c', installCommand(name)], { stdio: ['ignore', 2, 2], env })
  } finally {
    if (forbidStart) rmSync(POLICY)
  }
}
