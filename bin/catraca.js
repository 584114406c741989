#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/src/cli/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('catraca: not built yet: run "npm install" or "npm run build" in the clone\n')
  process.exitCode = 1
}
