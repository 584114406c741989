// Copies the Lua files, and the descriptions of gRPC services, beside the compiled code that reads them: `node scripts/copy-lua.mjs [DIRECTORY]`, dist by
// default.
import { cpSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export function copyLua(output) {
  const files = readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
  for (const entry of files.filter((each) => each.isFile() && /\.(lua|proto)$/.test(each.name))) {
    const file = join(entry.parentPath ?? entry.path, entry.name)
    cpSync(file, join(output, relative(root, file)))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) copyLua(process.argv[2] ?? join(root, 'dist'))
