// The files of the package, and what tools for packages say of it.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed, manifestOf, node, packaged, project } from './project.mjs'

const NEEDED = [
  /^(package\.json|LICENSE|README(\.pt-BR)?\.md|CHANGELOG\.md|SECURITY\.md)$/,
  /^bin\/catraca\.js$/,
  /^dist\/console\//,
  /^dist\/src\/.*\.js$/,
  /^dist\/src\/server\/grpc\/protos\/.*\.proto$/,
  /^dist\/cjs\/([\w-]+\.js|package\.json)$/,
  /^dist\/(cjs\/)?types\/.*\.d\.ts$/,
]

export function contents() {
  const files = readdirSync(packaged, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(packaged.length + 1))
    .filter((file) => !file.startsWith('node_modules/'))
  const others = files.filter((file) => !NEEDED.some((form) => form.test(file)))
  assert.deepEqual(others, [])
  const manifest = manifestOf(packaged)
  for (const field of ['repository', 'homepage', 'bugs', 'keywords', 'license', 'description', 'engines'])
    assert.ok(manifest[field], field)
  const paths = Object.entries(manifest.exports).filter(([, entry]) => typeof entry === 'object')
  // The types of a path that this program leaves out would be compiled by nobody.
  const program = readFileSync(join(project, 'types', 'every-path.ts'), 'utf8')
  const left = paths.map(([path]) => `'catraca${path.slice(1)}'`).filter((path) => !program.includes(path))
  assert.deepEqual(left, [])
  for (const [path, entry] of paths)
    for (const form of ['import', 'require'])
      for (const kind of ['types', 'default'])
        assert.ok(existsSync(join(packaged, entry[form][kind])), `${path} ${form} ${kind}`)
  return `${files.length} files`
}

const command = (name, path) => join(installed, ...name.split('/'), path)

export function publint() {
  const said = node([command('publint', 'src/cli.js'), packaged, '--strict'])
  assert.match(said, /All good!/)
}

/** `node10` is the resolution of TypeScript before `exports`, which reads only `main`. */
export function areTheTypesWrong(tarball) {
  node([
    command('@arethetypeswrong/cli', 'dist/index.js'),
    tarball,
    '--profile',
    'node16',
    '--format',
    'ascii',
  ])
}
