// The alert rules are tested by promtool, as Prometheus reads them. It comes with Debian's package of Prometheus.
import { spawnSync } from 'node:child_process'
import { installCommand, installPackage } from './debian-package.mjs'

const PACKAGE = 'prometheus'

export function ensurePromtool() {
  if (hasPromtool()) return
  installPackage(PACKAGE)
  if (hasPromtool()) return
  console.error('The tests need promtool on the PATH. Install it (as root) by:')
  console.error(`  ${installCommand(PACKAGE)}`)
  console.error('The service that the package starts is not needed: systemctl disable --now prometheus')
  process.exit(1)
}

const hasPromtool = () => spawnSync('promtool', ['--version']).status === 0
