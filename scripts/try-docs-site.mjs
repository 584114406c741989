// Builds the site of the documentation. The build fails when a link leads nowhere or a page wants another host.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const build = fileURLToPath(new URL('../site/build.mjs', import.meta.url))

export function buildDocsSite() {
  const out = mkdtempSync(join(tmpdir(), 'catraca-docs-'))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [build, '--base', '/catraca/', '--out', out],
    {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  rmSync(out, { recursive: true, force: true })
  if (status !== 0) throw new Error(`the site was not built:\n${stdout}\n${stderr}`)
}
