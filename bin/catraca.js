#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'

// The SDK of AWS would print eight lines about later versions of Node at every command.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

const main = new URL('../dist/src/cli/main.js', import.meta.url)
// Scripts ask for it often, and loading the program takes most of the time.
if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2])) {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  process.stdout.write(`${JSON.parse(manifest).version}\n`)
} else if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('catraca: not built yet: run "npm install" or "npm run build" in the clone\n')
  process.exitCode = 1
}
