// The console tests need a browser. When none is on the PATH, it is installed if possible; otherwise the run fails
// with instructions.
import { spawnSync } from 'node:child_process'
import { installCommand, installPackage } from './debian-package.mjs'

const PACKAGE = 'chromium-headless-shell'

export function ensureChromium() {
  if (hasChromium()) return
  installPackage(PACKAGE)
  if (hasChromium()) return
  console.error(`The tests of the console need ${PACKAGE} or chromium on the PATH. Install it (as root) by:`)
  console.error(`  ${installCommand(PACKAGE)}`)
  process.exit(1)
}

function hasChromium() {
  return [PACKAGE, 'chromium'].some((name) => spawnSync(name, ['--version', '--no-sandbox']).status === 0)
}
