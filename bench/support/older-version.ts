import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** What that version needs and this one does not. */
const ITS_OWN_PACKAGES = ['redis@6.3.1']

/** Builds an earlier version from its commit in an empty directory. Returns the URL of the package's entry. */
export function buildOlderVersion(commit: string, directory: string): string {
  const archive = join(directory, 'source.tar')
  try {
    execFileSync('git', ['-C', root, 'archive', '-o', archive, commit], { stdio: 'pipe' })
  } catch (cause) {
    throw new Error(
      `the commit ${commit} is not in the git history here: clone the repository whole (git fetch --unshallow)`,
      { cause },
    )
  }
  execFileSync('tar', ['-xf', archive, '-C', directory])
  const own = join(directory, 'own-packages')
  mkdirSync(own)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', own, ...ITS_OWN_PACKAGES], {
    stdio: 'pipe',
  })
  const packages = join(directory, 'node_modules')
  linkPackages(join(root, 'node_modules'), packages)
  linkPackages(join(own, 'node_modules'), packages)
  // Its tests and benchmarks are not needed.
  const configuration = { extends: './tsconfig.json', include: ['src'], compilerOptions: { rootDir: '.' } }
  writeFileSync(join(directory, 'tsconfig.product.json'), JSON.stringify(configuration))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.product.json'], {
    cwd: directory,
    stdio: 'inherit',
  })
  execFileSync(process.execPath, [join(directory, 'scripts', 'copy-lua.mjs')], { cwd: directory })
  return pathToFileURL(join(directory, 'dist', 'src', 'index.js')).href
}

/** One by one, so that packages of two places can stand side by side. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name.startsWith('.')) continue
    if (name.startsWith('@')) linkPackages(join(from, name), join(to, name))
    else if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name))
  }
}
