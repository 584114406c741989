// Writes the reference of the library as Markdown, one page for each entry point of the package, from the declarations
// that the package publishes and their comments.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { changeLinks, headingsOf } from './markdown.mjs'
import { notTranslated } from './texts.mjs'
import './typescript-6.mjs'

const { Application, Comment, CommentTag, Converter } = await import('typedoc')

/** Where a declaration stands in the sources says under which heading it belongs. */
const GROUPS = [
  ['guards/allowlist/', 'Allowlists'],
  ['guards/rate-limit/', 'Rate limits'],
  ['guards/idempotency/', 'Idempotency'],
  ['guards/cache/', 'Cache'],
  ['guards/lock/', 'Locks'],
  ['guards/one-time-code/', 'One-time codes'],
  ['guards/token-denylist/', 'Token denylist'],
  ['guards/audit/', 'Audit trail'],
  ['guards/access/', 'API keys'],
  ['engines/', 'Engines'],
  ['app/', 'Open and close'],
  ['core/', 'Errors, clocks and names'],
]

function declarationsOf(target) {
  if (typeof target !== 'object' || target === null) return undefined
  return typeof target.types === 'string' ? target.types : declarationsOf(target.import)
}

/** The file of declarations of each entry point, by the name that users import. */
function entryPoints(root) {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.entries(exports).flatMap(([path, target]) => {
    const types = declarationsOf(target)
    return types === undefined ? [] : [{ name: name + path.slice(1), file: join(root, types) }]
  })
}

function compilerOptions(root) {
  return {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
}

/** Names each entry point as users import it, and puts the exports of the main one under headings. */
function arrange(project, entries) {
  for (const module of project.children ?? []) {
    const file = project.getSymbolIdFromReflection(module)?.fileName ?? ''
    const entry = entries.find((one) => file === one.file)
    if (entry !== undefined) module.name = entry.name
    if (entry === entries[0])
      for (const item of module.children ?? []) group(project, item, dirname(entry.file))
  }
}

function group(project, item, home) {
  const file = project.getSymbolIdFromReflection(item)?.fileName ?? ''
  const found = GROUPS.find(([folder]) => file.startsWith(`${home}/${folder}`))
  const comment = item.comment ?? item.signatures?.[0]?.comment ?? (item.comment = new Comment())
  comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: found?.[1] ?? 'Other' }]))
}

/** Writes it into `api/` of the folder, and with a note into `pt-BR/api/`. */
export async function writeApiReference(root, scratch) {
  const target = join(scratch, 'api')
  const entries = entryPoints(root)
  const tsconfig = join(scratch, 'tsconfig.json')
  const files = entries.map(({ file }) => file)
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: compilerOptions(root), files }))
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: files,
    tsconfig,
    out: target,
    name: 'The library',
    readme: 'none',
    entryFileName: 'index',
    router: 'module',
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    propertyMembersFormat: 'table',
    logLevel: 'Warn',
    categoryOrder: [...GROUPS.map(([, name]) => name), '*'],
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => arrange(project, entries))
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc could not read the declarations')
  await app.generateOutputs(project)
  for (const name of readdirSync(target, { recursive: true })) {
    if (!name.endsWith('.md')) continue
    const page = repairLinks(readFileSync(join(target, name), 'utf8'))
    writeFileSync(join(target, name), page)
    const portuguese = join(scratch, 'pt-BR/api', name)
    mkdirSync(dirname(portuguese), { recursive: true })
    writeFileSync(portuguese, notTranslated(page))
  }
}

/** TypeDoc numbers some links within a page although there is only one place of the name. */
function repairLinks(page) {
  const marked = [...page.matchAll(/<a id="([^"]+)"/g)].map(([, id]) => id)
  const places = new Set([...headingsOf(page).map(({ anchor }) => anchor), ...marked])
  return changeLinks(page, (link) => {
    const plain = link.replace(/-\d+$/, '')
    return link.startsWith('#') && !places.has(link.slice(1)) && places.has(plain.slice(1)) ? plain : link
  })
}
