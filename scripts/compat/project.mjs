// The project of a user in test/compat: tools from its lock file, and the packed package.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const project = join(root, 'test', 'compat')
export const temporary = mkdtempSync(join(tmpdir(), 'catraca-compat-'))
export const installed = join(project, 'node_modules')
export const packaged = join(installed, 'catraca')

/** Runs a command and returns its output. Fails with the output when the command fails. */
export function run(command, args, { status = 0, env, ...options } = {}) {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const result = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 10 * 60_000,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...inherited, ...env },
    ...options,
  })
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`
  if (result.status === status) return output
  const ended = result.error?.message ?? result.signal ?? `code ${result.status}`
  const error = new Error(`${command} ${args.join(' ')} ended with ${ended}\n${output.slice(-6000)}`)
  throw Object.assign(error, { output })
}

export const node = (args, options) => run(process.execPath, args, options)
export const npm = (args, options) =>
  run('npm', [...args, '--no-audit', '--no-fund', '--ignore-scripts'], options)
export const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Packs the package as `npm publish` would, and returns the file. */
export function pack() {
  const name = npm(['pack', '--silent', '--pack-destination', temporary], { cwd: root })
    .trim()
    .split('\n')
    .at(-1)
  return join(temporary, name)
}

/** Installs the tools when the lock file changed, and the package at every run. */
export function install(tarball) {
  const lock = readFileSync(join(project, 'package-lock.json'), 'utf8')
  const mark = join(installed, '.installed-from')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== lock) {
    // Not `npm ci`: it misses entries for other platforms in lock files that npm itself writes.
    npm(['install', '--no-save'], { cwd: project })
    writeFileSync(mark, lock)
  }
  rmSync(packaged, { recursive: true, force: true })
  npm(['install', '--no-save', '--no-package-lock', tarball], { cwd: project })
  writeFileSync(mark, lock)
}

/** A copy of a folder of the project, outside of the repository: nothing of its packages is found by accident. */
export function copied(folder) {
  const copy = join(temporary, folder)
  mkdirSync(copy, { recursive: true })
  cpSync(join(project, folder), copy, { recursive: true })
  return copy
}

/** An empty project of its own, with the given packages. */
export function emptyProject(name, packages) {
  const folder = join(temporary, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  npm(['install', ...packages], { cwd: folder })
  return folder
}
