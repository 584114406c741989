import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../../', import.meta.url)
export const inRoot = (path: string): string => fileURLToPath(new URL(path, root))
export const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const settings = read('docs/reference/config.md')
const routes = read('docs/reference/routes.md')
const commands = read('docs/reference/cli.md')

/** What a deployment file calls by name must exist: variables, open routes, commands. */
export function assertSettings(names: Iterable<string>): void {
  for (const name of names) assert.ok(settings.includes(`\`${name}\``), `no setting ${name}`)
}
export function assertOpenRoute(path: string): void {
  assert.ok(routes.includes(`| \`GET ${path}\` | open |`), `no open route ${path}`)
}
export function assertCommand(name: string): void {
  assert.ok(commands.includes(`## catraca ${name}\n`), `no command ${name}`)
}
export const settingsIn = (text: string): Set<string> => new Set(text.match(/\bCATRACA_[A-Z_]+\b/g) ?? [])
