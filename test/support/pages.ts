/** The pages of the repository. */
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** All Markdown files, without those of packages, builds and stores. */
export function markdownPages(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      const skipped =
        ['node_modules', 'dist', 'catraca-data'].includes(entry.name) || entry.name.startsWith('.')
      if (skipped) return []
      if (entry.isDirectory()) return markdownPages(path)
      return entry.name.endsWith('.md') ? [relative(root, path)] : []
    })
    .sort()
}
