// Compiles programs of users against the published types, with all strictness and without `skipLibCheck`.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyProject, installed, node, project, root } from './project.mjs'

const STRICT = {
  target: 'es2023',
  lib: ['es2023'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
}
const FORMS = {
  nodenext: { type: 'module', options: { module: 'nodenext', moduleResolution: 'nodenext' } },
  bundler: { type: 'module', options: { module: 'esnext', moduleResolution: 'bundler' } },
  commonjs: { type: 'commonjs', options: { module: 'nodenext', moduleResolution: 'nodenext' } },
}

/** Below the project, whose packages the programs find; removed after the run. */
const work = join(project, 'node_modules', '.compiled')

function folderOf(name, { type, options }, parent = work) {
  const folder = join(parent, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...options } }))
  return folder
}

const compile = (version, folder, options) =>
  node([join(installed, `typescript${version}`, 'bin', 'tsc'), '-p', folder, '--pretty', 'false'], options)

/** What a user has: the package with its dependencies, and types of Node and of the frameworks in use. */
const TYPES_OF_USERS = [
  ...['@types/node@20', 'express@5', '@types/express@5', 'hono@4', 'keyv@5', 'express-rate-limit@8'],
  '@fastify/rate-limit@11',
  ...['@openfeature/server-sdk@1', '@nestjs/common@11', '@nestjs/core@11', '@nestjs/throttler@6'],
  ...['reflect-metadata@0.2', 'rxjs@7'],
]
let home

export const compileTypes = (version, form) => (tarball) => {
  home ??= emptyProject('typed', [tarball, ...TYPES_OF_USERS])
  const folder = folderOf(`${form}-${version}`, FORMS[form], home)
  cpSync(join(project, 'types'), folder, { recursive: true })
  compile(version, folder)
}

/** Decisions show what was; the site is built from the other pages. */
const LEFT_OUT = /^docs\/adr\//

function blocksOfPages() {
  const guides = readdirSync(join(root, 'docs'), { recursive: true })
    .map((file) => `docs/${file}`)
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules') && !LEFT_OUT.test(file))
  return ['README.md', 'README.pt-BR.md', ...guides].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const blocks = [...text.matchAll(/^```(?:ts|js|typescript|javascript)\n([\s\S]*?)^```$/gm)]
    return blocks.map(([, code], i) => ({ name: `${page.replaceAll(/[/.]/g, '-')}-${i + 1}`, code }))
  })
}

/** What blocks of one page take from the blocks before, or leave to the reader. */
const KNOWN = { catraca: "import('catraca').Catraca" }

/** What the package exports under this name, or anything. */
const exported = (name) => `typeof import('catraca') extends { ${name}: infer Value } ? Value : any`

/** What the authentication of a service adds to its requests. */
const USER = `import 'fastify'\ndeclare module 'fastify' { interface FastifyRequest { user: { id: string } } }\n`

/**
 * Every block of a page. Names that a block uses but does not declare may be anything; `catraca` is an instance, and
 * what is imported from the package is checked.
 */
export function compileDocs() {
  const folder = folderOf('docs', {
    ...FORMS.nodenext,
    // As applications of Nest are compiled.
    options: { ...FORMS.nodenext.options, skipLibCheck: true, experimentalDecorators: true },
  })
  writeFileSync(join(folder, 'user.d.ts'), USER)
  const blocks = blocksOfPages()
  const write = (declared) => {
    for (const { name, code } of blocks)
      writeFileSync(
        join(folder, `${name}.ts`),
        `${code}\n${[...(declared.get(name) ?? [])].join('\n')}\nexport {}\n`,
      )
  }
  write(new Map())
  write(missingNames(errorsOf(folder)))
  const errors = errorsOf(folder).filter((line) => !IGNORED.test(line))
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return `${blocks.length} blocks`
}

/** What has no type of its own is usual in a page; so are other packages that are not installed here. */
const IGNORED = /error TS(7005|7006|7016|7031|7034|7053|18046|2307: Cannot find module '(?!catraca))/

function errorsOf(folder) {
  try {
    compile(7, folder)
    return []
  } catch (error) {
    return error.output.split('\n').filter((line) => line.includes('error TS'))
  }
}

function missingNames(errors) {
  const declared = new Map()
  for (const line of errors) {
    const [, file, name] =
      /([^/]+)\.ts\(\d+,\d+\): error TS(?:2304|2552|2593|18004): .*?'(\w+)'/.exec(line) ?? []
    if (file === undefined) continue
    const names = declared.get(file) ?? new Set()
    declared.set(
      file,
      names.add(`declare const ${name}: ${KNOWN[name] ?? exported(name)}`).add(`type ${name} = any`),
    )
  }
  return declared
}
