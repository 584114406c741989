// Which file of the repository becomes which page of the site. Pages are named without language and extension.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

export const TRANSLATIONS = 'docs/pt-BR/'

const asIndex = (path) => path.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '')

/** The page of a file or folder: `{ page, portuguese }`. `portuguese` says that the file is the translation. */
export function pageOf(path) {
  if (path === 'README.pt-BR.md') return { page: 'project/index', portuguese: true }
  if (path.startsWith(TRANSLATIONS))
    return { page: asIndex(path.slice(TRANSLATIONS.length)), portuguese: true }
  if (path.startsWith('docs/') && path.endsWith('.md'))
    return { page: asIndex(path.slice(5)), portuguese: false }
  if (path.endsWith('.md')) return { page: `project/${asIndex(path)}`, portuguese: false }
  return { page: `source/${path}`, portuguese: false }
}

/** A link to a folder leads to its README, when it has one. */
export function fileBehind(root, path) {
  const readme = join(path, 'README.md')
  return statSync(join(root, path)).isDirectory() && existsSync(join(root, readme)) ? readme : path
}

/** How the blocks of files are coloured; others are plain text. */
const LANGUAGES = {
  '.mjs': 'js',
  '.js': 'js',
  '.ts': 'ts',
  '.json': 'json',
  '.yml': 'yaml',
  '.yaml': 'yaml',
  '.py': 'python',
  '.go': 'go',
  '.tf': 'hcl',
  '.sh': 'sh',
}

/** Dashboards and templates are much longer than anybody reads on a page. */
const MAX_LINES = 400

/** Without comments, which the site would show, and without the one language of blocks that its colours do not know. */
const forSite = (page) => page.replace(/^<!--.*-->$/gm, '').replace(/^```promql$/gm, '```text')

/** The Markdown of a page: that of the file, or the file as a block of code, or the names in a folder. */
export function contentOf(root, path) {
  const file = join(root, path)
  if (path.endsWith('.md')) return forSite(readFileSync(file, 'utf8'))
  const title = `---\nsearch: false\n---\n\n# ${basename(path)}\n\n\`${path}\`\n\n`
  if (statSync(file).isDirectory()) {
    return `${title}${readdirSync(file)
      .map((name) => `- \`${name}\``)
      .join('\n')}\n`
  }
  const language = LANGUAGES[extname(path)] ?? 'text'
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const note = lines.length > MAX_LINES ? `The first ${MAX_LINES} of ${lines.length} lines:\n\n` : ''
  return `${title}${note}\`\`\`\`${language}\n${lines.slice(0, MAX_LINES).join('\n')}\n\`\`\`\`\n`
}

/** All Markdown files of docs/, as paths of the repository. */
export function docsPages(root, folder = 'docs') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return docsPages(root, path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}
