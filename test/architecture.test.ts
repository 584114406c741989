import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

/**
 * The dependency rule of the design, read from the imports:
 * cli → server → composition → { guards, engines } → ports → leaves.
 */
const LEAVES = [
  'abort.ts',
  'errors.ts',
  'clock.ts',
  'deadlines.ts',
  'diagnosis.ts',
  'encode-identifier.ts',
  'fields.ts',
  'figures.ts',
  'key.ts',
  'maybe.ts',
  'packed-error.ts',
  'plain-object.ts',
  'shared-look.ts',
  'timers.ts',
  'trace-parent.ts',
  'version.ts',
  'wakes.ts',
]
/** What stands beside catraca.ts and helps it compose; nothing else may see guards and engines together. */
const COMPOSITION = [
  'allowlists.ts',
  'audit.ts',
  'cache.ts',
  'catraca.ts',
  'checked-calls.ts',
  'codes.ts',
  'diagnose.ts',
  'dynamodb-tables.ts',
  'engine-calls.ts',
  'engine-figures.ts',
  'health.ts',
  'embedded-backup.ts',
  'hot-tier.ts',
  'idempotency.ts',
  'open-engine.ts',
  'open-fields.ts',
  'relay.ts',
  'index.ts',
  'upkeep.ts',
  'import-channel.ts',
  'import-runner.ts',
  'import-worker.ts',
  'index-channel.ts',
  'index-runner.ts',
  'index-worker.ts',
  'limits.ts',
  'locks.ts',
  'stores.ts',
  'tokens.ts',
  'tracing.ts',
  'watched-engine.ts',
  'watched-ports.ts',
]
const CAPABILITIES = [
  'allowlist',
  'access',
  'changes',
  'rate-limit',
  'idempotency',
  'cache',
  'lock',
  'one-time-code',
  'token-denylist',
  'audit',
]
/** Reads spelling only, so that the library can take a store URL without knowing of any configuration. */
const STORE_URL = /^config\/store-url(-\w+)?\.ts$/

type Layer =
  | 'leaf'
  | 'capability'
  | 'engine'
  | 'composition'
  | 'conformance'
  | 'metrics'
  | 'server'
  | 'config'
  | 'cli'
  | 'adapters'
  | 'presets'
  | 'client'

const MAY_IMPORT: Record<Layer, Layer[]> = {
  leaf: ['leaf'],
  capability: ['leaf', 'capability'],
  engine: ['leaf', 'capability', 'engine'],
  conformance: ['leaf', 'capability', 'conformance'],
  composition: ['leaf', 'capability', 'engine', 'composition'],
  metrics: ['leaf', 'capability', 'composition', 'metrics'],
  server: ['leaf', 'capability', 'composition', 'metrics', 'server'],
  config: ['leaf', 'capability', 'config'],
  cli: ['leaf', 'capability', 'composition', 'metrics', 'server', 'config', 'cli'],
  adapters: ['leaf', 'capability', 'server', 'adapters'],
  presets: ['leaf', 'capability', 'presets'],
  // Runs in browsers too, so it stands alone.
  client: ['client'],
}

/** Packages with a home; everybody else goes through it. */
const PACKAGE_HOMES: Record<string, Layer[]> = {
  // The first tier of the cache is a data structure, not something outside.
  'lru-cache': ['capability'],
  lmdb: ['engine'],
  '@aws-sdk/client-dynamodb': ['engine'],
  '@aws-sdk/client-dynamodb-streams': ['engine'],
  '@aws-sdk/client-sns': ['engine'],
  '@aws-sdk/client-sqs': ['engine'],
  '@amazon-dax-sdk/client-dax': ['engine'],
  '@opentelemetry/api': ['composition'],
  'prom-client': ['metrics'],
  fastify: ['server'],
  pino: ['server'],
  commander: ['cli'],
  'cli-progress': ['cli'],
  yaml: ['cli'],
}

type Sources = Map<string, string>

function layerOf(file: string): Layer | undefined {
  const [top = '', ...rest] = file.split('/')
  if (rest.length === 0) {
    if (LEAVES.includes(top)) return 'leaf'
    return COMPOSITION.includes(top) ? 'composition' : undefined
  }
  if (STORE_URL.test(file)) return 'leaf'
  if (CAPABILITIES.includes(top)) return 'capability'
  if (top === 'engines') return 'engine'
  return top === 'adapters' ||
    top === 'presets' ||
    top === 'conformance' ||
    top === 'metrics' ||
    top === 'server' ||
    top === 'config' ||
    top === 'cli' ||
    top === 'client'
    ? top
    : undefined
}

const IMPORT_FORMS = [
  /^\s*(?:import|export)\s[^'"]*?\bfrom\s*'([^']+)'/gm,
  /^\s*import\s*'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'\s*\)/g,
  /new URL\(\s*'([^']+\.js)'\s*,\s*import\.meta\.url\s*\)/g,
]

function importsOf(source: string): string[] {
  return IMPORT_FORMS.flatMap((form) => [...source.matchAll(form)].map((match) => match[1]!))
}

/** The file of the product that an import means, or undefined for a package. */
function target(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return posix.normalize(posix.join(posix.dirname(file), specifier)).replace(/\.js$/, '.ts')
}

/** A guard is what holds a port: a file of a capability that names one of the interfaces in its port.ts. */
function findGuards(sources: Sources): Set<string> {
  const guards = new Set<string>()
  for (const capability of CAPABILITIES) {
    const port = sources.get(`${capability}/port.ts`) ?? ''
    const ports = [...port.matchAll(/export interface (\w+(?:Store|Engine))\b/g)].map((match) => match[1]!)
    if (ports.length === 0) continue
    const named = new RegExp(`\\b(?:${ports.join('|')})\\b`)
    for (const [file, source] of sources) {
      if (file.startsWith(`${capability}/`) && !file.endsWith('/port.ts') && named.test(source))
        guards.add(file)
    }
  }
  return guards
}

function violationsOf(sources: Sources): string[] {
  const guards = findGuards(sources)
  return [...sources].flatMap(([file, source]) => {
    const layer = layerOf(file)
    if (layer === undefined) return [`src/${file} stands in no layer: give it one in this test`]
    const wrong = importsOf(source).flatMap((specifier) => {
      const rule = brokenRule(file, layer, specifier, guards)
      return rule === undefined ? [] : [`src/${file} imports ${specifier}: ${rule}`]
    })
    const reads = /\bprocess\s*(\.\s*env\b|\[\s*['"`]env)/.test(source)
    if (reads && file !== 'config/environment.ts') {
      wrong.push(`src/${file} reads process.env: only config/environment.ts does`)
    }
    if (RAW_TIMER.test(source) && !MAY_SET_TIMERS.test(file)) {
      wrong.push(`src/${file} sets a timer that may end the process: use timers.ts`)
    }
    return wrong
  })
}

/** Only what resolves a promise, which cannot fail. */
const RAW_TIMER = /(?<![.\w])set(?:Interval|Timeout|Immediate)\((?!resolve\b|\))/
/** The client runs in browsers; conformance and load tests are run by people, who are told by the end of the process. */
const MAY_SET_TIMERS = /^(?:timers\.ts$|client\/|conformance\/|cli\/load\/)/

function brokenRule(file: string, layer: Layer, specifier: string, guards: Set<string>): string | undefined {
  const imported = target(file, specifier)
  if (imported === undefined) return brokenPackageRule(layer, specifier)
  const other = layerOf(imported)
  if (imported.startsWith('..') || other === undefined) return 'only files with a layer may be imported'
  if (!MAY_IMPORT[layer].includes(other)) return `${layer} may import only ${MAY_IMPORT[layer].join(', ')}`
  if (layer === 'engine' && guards.has(imported)) return 'engines implement ports, and know no guard'
  if (layer === 'engine' && other === 'engine' && engineOf(file) !== engineOf(imported)) {
    return 'engines do not know each other'
  }
  if (file.endsWith('/port.ts') && guards.has(imported)) return 'ports do not know who uses them'
  return undefined
}

function brokenPackageRule(layer: Layer, specifier: string): string | undefined {
  if (layer === 'client') return 'the client uses only what browsers have'
  if (specifier.startsWith('node:')) return undefined
  const known = Object.hasOwn(PACKAGE_HOMES, specifier) ? PACKAGE_HOMES[specifier]! : undefined
  if (layer === 'leaf' || (layer === 'capability' && !known?.includes(layer)))
    return `a ${layer} needs no package`
  const homes = known ?? [layer]
  return homes.includes(layer) ? undefined : `${specifier} belongs to ${homes.join(' and ')}`
}

const engineOf = (file: string): string => file.split('/')[1]!

function readSources(): Sources {
  const root = fileURLToPath(new URL('../../src', import.meta.url))
  const files = readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(files.map((file) => [relative(root, file).replaceAll(sep, '/'), readFileSync(file, 'utf8')]))
}

describe('architecture', () => {
  const sources = readSources()

  it('is kept by every import of the product', () => {
    assert.deepEqual(violationsOf(sources), [])
  })

  it('is judged over real files, imports and guards', () => {
    assert.ok(sources.size > 50, `${sources.size} files`)
    const imports = [...sources.values()].flatMap(importsOf)
    assert.ok(imports.length > 200, `${imports.length} imports`)
    assert.ok(findGuards(sources).has('allowlist/allowlists.ts'))
    assert.ok(findGuards(sources).has('access/keys.ts'))
    assert.ok(findGuards(sources).has('rate-limit/limits.ts'))
    for (const file of [...LEAVES, ...COMPOSITION]) assert.ok(sources.has(file), `src/${file} is listed`)
  })

  const port = ['allowlist/port.ts', 'export interface ListStore {}'] as const
  const guard = ['allowlist/guard.ts', "import type { ListStore } from './port.js'"] as const
  const breaches: [string, string, string, RegExp][] = [
    [
      'guard → engine',
      'allowlist/x.ts',
      "import '../engines/embedded/index.js'",
      /capability may import only/,
    ],
    ['engine → guard', 'engines/embedded/x.ts', "import { G } from '../../allowlist/guard.js'", /no guard/],
    ['engine → engine', 'engines/a/x.ts', "export * from '../b/y.js'", /each other/],
    ['server → engine', 'server/x.ts', "await import('../engines/a/x.js')", /server may import only/],
    ['server → config', 'server/x.ts', "import { c } from '../config/load.js'", /server may import only/],
    ['library → config', 'catraca.ts', "import { c } from './config/load.js'", /composition may import only/],
    ['library → cli', 'catraca.ts', "import { c } from './cli/main.js'", /composition may import only/],
    ['leaf → capability', 'key.ts', "import {\n  a,\n} from './access/keys.js'", /leaf may import only/],
    ['cli → engine', 'cli/x.ts', "new URL('../engines/a/x.js', import.meta.url)", /cli may import only/],
    ['guard → package', 'allowlist/x.ts', "import { open } from 'lmdb'", /needs no package/],
    ['server → lru-cache', 'server/x.ts', "import 'lru-cache'", /belongs to capability/],
    ['server → lmdb', 'server/x.ts', "import { open } from 'lmdb'", /belongs to engine/],
    ['environment', 'server/x.ts', 'const x = process.env.HOME', /process\.env/],
    ['timer', 'server/x.ts', 'setInterval(() => this.look(), 5)', /use timers\.ts/],
    ['unknown folder', 'misc/x.ts', '', /no layer/],
  ]
  for (const [name, file, source, expected] of breaches) {
    it(`sees a breach: ${name}`, () => {
      const [found, ...others] = violationsOf(new Map([port, guard, [file, source]]))
      assert.match(found ?? 'nothing', expected)
      assert.deepEqual(others, [])
    })
  }

  it('lets the right imports pass', () => {
    const right: Sources = new Map([
      port,
      guard,
      ['engines/embedded/x.ts', "import type { ListStore } from '../../allowlist/port.js'\nimport 'lmdb'"],
      ['catraca.ts', "import './engines/embedded/x.js'\nimport { parse } from './config/store-url.js'"],
      ['cli/x.ts', "import '../server/x.js'\nimport '../config/load.js'\nimport 'commander'"],
      ['server/x.ts', "import type { C } from '../catraca.js'\nimport fastify from 'fastify'"],
    ])
    assert.deepEqual(violationsOf(right), [])
  })
})
