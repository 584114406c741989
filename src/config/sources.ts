import { readFileSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { isSetting, SCHEMA, SETTINGS } from './schema.js'

type SourceKind = 'flag' | 'environment' | 'file'

export interface SettingSource {
  value: unknown
  /** As text (flags, environment) or as JSON (file). */
  as: 'text' | 'json'
  /** The value names a file that contains the secret. */
  inFile: boolean
  kind: SourceKind
  /** Such as `environment CATRACA_PORT`. */
  source: string
}

export interface Problem {
  kind: SourceKind
  source: string
  message: string
}

/** The values of all sources by setting path, strongest source first. */
export interface Findings {
  found: Map<string, SettingSource[]>
  problems: Problem[]
}

export const CONFIG_FILE = 'catraca.config.json'
export const CONFIG_FILE_ENV = 'CATRACA_CONFIG'
const FILE_ENV_SUFFIX = '_FILE'
const FILE_PATH_SUFFIX = 'File'

export function emptyFindings(): Findings {
  return { found: new Map(), problems: [] }
}

function record(findings: Findings, path: string, found: SettingSource): void {
  const others = findings.found.get(path)
  const twin = others?.find((other) => other.kind === found.kind)
  if (twin !== undefined) {
    findings.problems.push({ kind: found.kind, source: found.source, message: `contradicts ${twin.source}` })
  } else if (others === undefined) findings.found.set(path, [found])
  else others.push(found)
}

export function readFlags(findings: Findings, flags: Readonly<Record<string, string | undefined>>): void {
  for (const [path, value] of Object.entries(flags)) {
    if (value === undefined) continue
    const source = `flag ${SETTINGS.get(path)?.flag ?? path}`
    record(findings, path, { value, as: 'text', inFile: false, kind: 'flag', source })
  }
}

export function readEnvironment(findings: Findings, env: Readonly<Record<string, string | undefined>>): void {
  const paths = environmentNames()
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('CATRACA_') || value === undefined) continue
    if (name === CONFIG_FILE_ENV && value !== '') continue
    const source = `environment ${name}`
    const known = paths.get(name)
    const problem = value === '' ? 'is empty' : known === undefined ? 'is not a setting' : undefined
    if (problem !== undefined || known === undefined) {
      const message = `${problem}${kubernetesHint(name, value)}`
      findings.problems.push({ kind: 'environment', source, message })
    } else {
      const inFile = known.inFile
      record(findings, known.path, { value, as: 'text', inFile, kind: 'environment', source })
    }
  }
}

export function environmentNames(): Map<string, { path: string; inFile: boolean }> {
  const names = new Map<string, { path: string; inFile: boolean }>()
  for (const [path, setting] of SETTINGS) {
    names.set(setting.env, { path, inFile: false })
    if (setting.secret) names.set(setting.env + FILE_ENV_SUFFIX, { path, inFile: true })
  }
  return names
}

/** Kubernetes sets such variables in every pod of a namespace that has a service named `catraca`. */
export function kubernetesHint(name: string, value: unknown): string {
  const link = /^CATRACA_(SERVICE_|PORT_\d)/.test(name) || /^(tcp|udp):\/\//.test(String(value))
  return link ? '; Kubernetes sets it for a service of that name: set enableServiceLinks: false' : ''
}

/** Reads the named file, which must exist, or the default one in the working directory, which may be missing. */
export function readFile(findings: Findings, named: string | undefined, cwd: string): void {
  if (named === '') return
  const name = named ?? CONFIG_FILE
  const path = isAbsolute(name) ? name : resolve(cwd, name)
  const source = `file ${name}`
  const problem = (message: string) => findings.problems.push({ kind: 'file', source, message })
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (named !== undefined || code !== 'ENOENT') problem(`cannot be read (${code})`)
    return
  }
  let root: unknown
  try {
    root = JSON.parse(content.replace(/^\uFEFF/, ''))
  } catch (error) {
    problem(`is not JSON: ${(error as Error).message}`)
    return
  }
  if (isObject(root)) walk(findings, root, SCHEMA, '', source)
  else problem('must hold one JSON object')
}

function walk(findings: Findings, table: object, schema: object, prefix: string, source: string): void {
  for (const [name, value] of Object.entries(table)) {
    const path = prefix + name
    const here = `${source}: ${path}`
    const problem = (message: string) => findings.problems.push({ kind: 'file', source: here, message })
    const { entry, inFile } = lookUp(schema, name)
    if (entry === undefined) problem('is not a setting')
    else if (isSetting(entry)) {
      const settingPath = inFile ? path.slice(0, -FILE_PATH_SUFFIX.length) : path
      record(findings, settingPath, { value, as: 'json', inFile, kind: 'file', source: here })
    } else if (isObject(value)) walk(findings, value, entry, `${path}.`, source)
    else problem('must be an object')
  }
}

/** `hasOwn`, because a file may hold keys such as `__proto__` and `constructor`. */
function lookUp(schema: object, name: string): { entry?: object; inFile: boolean } {
  if (Object.hasOwn(schema, name)) return { entry: (schema as Record<string, object>)[name]!, inFile: false }
  if (name.endsWith(FILE_PATH_SUFFIX)) {
    const secretName = name.slice(0, -FILE_PATH_SUFFIX.length)
    const entry = Object.hasOwn(schema, secretName)
      ? (schema as Record<string, object>)[secretName]
      : undefined
    if (isSetting(entry) && entry.secret) return { entry, inFile: true }
  }
  return { inFile: false }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
