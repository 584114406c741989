#!/usr/bin/env node
import { existsSync } from 'node:fs'

// The SDK of AWS would print eight lines about later versions of Node at every command.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

const main = new URL('../dist/src/cli/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('catraca: not built yet: run "npm install" or "npm run build" in the clone\n')
  process.exitCode = 1
}
