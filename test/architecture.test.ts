import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

/**
 * The dependency rule of the design, read from the imports:
 * cli → server → { app, wire } → { guards, engines } → ports → core.
 */
const GUARDS = [
  'allowlist',
  'access',
  'rate-limit',
  'idempotency',
  'cache',
  'lock',
  'one-time-code',
  'token-denylist',
  'audit',
]
const ROOT = fileURLToPath(new URL('../../src', import.meta.url))
const ENGINES = readdirSync(join(ROOT, 'engines'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** Files for what only one engine has. They may name it, and import it if they are in app/ or hold its defaults. */
const OF_ONE_ENGINE: Record<string, string[]> = {
  // Sets of members in Redis, in front of DynamoDB.
  'app/hot-tier.ts': ['redis'],
  'app/open-options.ts': ['dynamodb'],
  // Named defaults between cost and delay.
  'app/store-profile.ts': ['dynamodb'],
  'config/load.ts': ['dynamodb'],
  // Locks by majority of Redis servers.
  'app/redlock.ts': ['redis'],
  'config/value-kinds.ts': ['redis'],
  // Tables and streams.
  'app/dynamodb-tables.ts': ['dynamodb'],
  'app/relay.ts': ['dynamodb'],
  'cli/commands/dynamodb.ts': ['dynamodb'],
  // Copies of a directory.
  'app/embedded-backup.ts': ['embedded'],
  // Settings of an engine become its options.
  'cli/settings.ts': ['redis', 'dynamodb'],
  // A metric that is named after Redis.
  'metrics/engines.ts': ['redis'],
}

type Layer = keyof typeof MAY_IMPORT

/** By folder of src. */
const MAY_IMPORT = {
  core: ['core'],
  guards: ['core', 'guards'],
  engines: ['core', 'guards', 'engines'],
  conformance: ['core', 'guards', 'conformance'],
  app: ['core', 'guards', 'engines', 'app'],
  metrics: ['core', 'guards', 'app', 'metrics'],
  // The operations of the HTTP API, without anything that serves or calls them.
  wire: ['core', 'guards', 'wire'],
  server: ['core', 'guards', 'app', 'metrics', 'wire', 'server'],
  config: ['core', 'guards', 'engines', 'config'],
  cli: ['core', 'guards', 'engines', 'app', 'metrics', 'server', 'wire', 'client', 'remote', 'config', 'cli'],
  adapters: ['core', 'guards', 'server', 'adapters'],
  // The guards in the shape of a Nest module: it opens what the decorators use.
  nestjs: ['core', 'guards', 'app', 'server', 'adapters', 'remote', 'nestjs'],
  presets: ['core', 'guards', 'presets'],
  // A server in the shape of the library.
  remote: ['core', 'guards', 'client', 'remote'],
  // Runs in browsers too, so it loads nothing of the others: it takes only types.
  client: ['client', 'wire'],
} satisfies Record<string, string[]>

/** Packages with a home; everybody else goes through it. */
const PACKAGE_HOMES: Record<string, Layer[]> = {
  // The first tier of the cache is a data structure, not something outside.
  'lru-cache': ['guards'],
  lmdb: ['engines'],
  '@aws-sdk/client-dynamodb': ['engines'],
  '@aws-sdk/client-dynamodb-streams': ['engines'],
  '@aws-sdk/client-sns': ['engines'],
  '@aws-sdk/client-sqs': ['engines'],
  '@amazon-dax-sdk/client-dax': ['engines'],
  '@openfeature/server-sdk': ['adapters'],
  '@fastify/rate-limit': ['adapters'],
  '@nestjs/throttler': ['adapters'],
  '@nestjs/common': ['nestjs'],
  '@nestjs/core': ['nestjs'],
  rxjs: ['nestjs'],
  '@opentelemetry/api': ['app'],
  '@grpc/grpc-js': ['server'],
  '@grpc/proto-loader': ['server'],
  'prom-client': ['metrics'],
  fastify: ['server', 'adapters'],
  express: ['adapters'],
  'express-rate-limit': ['adapters'],
  hono: ['adapters'],
  keyv: ['adapters'],
  typebox: ['wire'],
  'typebox/compile': ['wire'],
  pino: ['server'],
  'openid-client': ['server'],
  commander: ['cli'],
  'cli-progress': ['cli'],
  yaml: ['cli'],
}

type Sources = Map<string, string>

function layerOf(file: string): Layer | undefined {
  // The public exports, which name what app composes.
  if (file === 'index.ts') return 'app'
  const top = file.split('/')[0]!
  return file.includes('/') && Object.hasOwn(MAY_IMPORT, top) ? (top as Layer) : undefined
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

/** What is loaded when a file is: without imports of types only. */
function loadsOf(file: string, source: string): string[] {
  const statements = source.matchAll(/^\s*(?:import|export)\s+(?!type\b)([^'"]*?)\bfrom\s*'(\.[^']+)'/gm)
  return [...statements].flatMap(([, names, specifier]) => {
    const inBraces = /^\s*\{([^}]*)\}\s*$/.exec(names!)?.[1]
    const isOfTypes = inBraces
      ?.split(',')
      .filter((name) => name.trim() !== '')
      .every((name) => /^\s*type\s/.test(name))
    return isOfTypes ? [] : [target(file, specifier!)!]
  })
}

/** Files that load each other in a circle, as the first circle that is found. */
function findCycle(sources: Sources): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file) || !sources.has(file)) return []
    for (const loaded of loadsOf(file, sources.get(file)!)) {
      const cycle = visit(loaded, [...path, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of sources.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

/** Folders beside each other that load each other. A folder and one inside it are one thing. */
function findKnots(sources: Sources): string[] {
  const loads = new Map<string, string>()
  for (const [file, source] of sources) {
    for (const loaded of loadsOf(file, source)) {
      const [from, to] = [posix.dirname(file), posix.dirname(loaded)]
      if (
        !`${from}/`.startsWith(`${to}/`) &&
        !`${to}/`.startsWith(`${from}/`) &&
        to !== '.' &&
        from !== '.'
      ) {
        loads.set(`${from} ↔ ${to}`, `${file} loads ${loaded}`)
      }
    }
  }
  return [...loads].flatMap(([pair, how]) => {
    const [from, to] = pair.split(' ↔ ')
    const back = loads.get(`${to} ↔ ${from}`)
    return back !== undefined && from! < to! ? [`${how}, and ${back}`] : []
  })
}

/** A guard is what holds a port: a file of a capability that names one of the interfaces in its port.ts. */
function findGuards(sources: Sources): Set<string> {
  const guards = new Set<string>()
  for (const guard of GUARDS) {
    const port = sources.get(`guards/${guard}/port.ts`) ?? ''
    const ports = [...port.matchAll(/export interface (\w+(?:Store|Engine))\b/g)].map((match) => match[1]!)
    if (ports.length === 0) continue
    const named = new RegExp(`\\b(?:${ports.join('|')})\\b`)
    for (const [file, source] of sources) {
      if (file.startsWith(`guards/${guard}/`) && !file.endsWith('/port.ts') && named.test(source))
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
    for (const engine of namedEngines(file, source)) {
      wrong.push(`src/${file} names '${engine}': only engines/registry.ts knows which engines there are`)
    }
    for (const loaded of layer === 'client' ? loadsOf(file, source) : []) {
      if (layerOf(loaded) !== 'client') wrong.push(`src/${file} loads ${loaded}: the client takes only types`)
    }
    for (const loaded of layer === 'adapters' ? loadedFrameworks(source) : []) {
      wrong.push(`src/${file} loads ${loaded}: adapters take only types of frameworks`)
    }
    const reads = /\bprocess\s*(\.\s*env\b|\[\s*['"`]env)/.test(source)
    if (reads && file !== 'config/environment.ts') {
      wrong.push(`src/${file} reads process.env: only config/environment.ts does`)
    }
    if (RAW_TIMER.test(source) && !MAY_SET_TIMERS.test(file)) {
      wrong.push(`src/${file} sets a timer that may end the process: use core/timers.ts`)
    }
    return wrong
  })
}

/** A user has the framework that an adapter is for, and no other. */
const loadedFrameworks = (source: string): string[] =>
  [...source.matchAll(/^import\s+(?!type\b)[^'"]*?'(express|fastify)'/gm)].map((match) => match[1]!)

/** Only what resolves a promise, which cannot fail. */
const RAW_TIMER = /(?<![.\w])set(?:Interval|Timeout|Immediate)\((?!resolve\b|\))/
/** The client runs in browsers; conformance and load tests are run by people, who are told by the end of the process. */
const MAY_SET_TIMERS = /^(?:core\/timers\.ts$|client\/|conformance\/|cli\/load\/)/

/** The part of the client that only Node can run. */
const NODE_CLIENT = 'client/node.ts'
const BROWSERS = 'the client uses only what browsers have'

function brokenRule(file: string, layer: Layer, specifier: string, guards: Set<string>): string | undefined {
  const imported = target(file, specifier)
  if (imported === undefined) return brokenPackageRule(file, layer, specifier)
  const other = layerOf(imported)
  if (imported.startsWith('..') || other === undefined) return 'only files with a layer may be imported'
  const allowed: string[] = MAY_IMPORT[layer]
  if (!allowed.includes(other)) return `${layer} may import only ${allowed.join(', ')}`
  if (layer === 'client' && imported === NODE_CLIENT) return BROWSERS
  if (layer === 'engines' && guards.has(imported)) return 'engines implement ports, and know no guard'
  if (other === 'engines') return brokenEngineRule(file, layer, imported)
  if (file.endsWith('/port.ts') && guards.has(imported)) return 'ports do not know who uses them'
  return undefined
}

function brokenPackageRule(file: string, layer: Layer, specifier: string): string | undefined {
  if (layer === 'client' && file !== NODE_CLIENT) return BROWSERS
  if (specifier.startsWith('node:')) return undefined
  const known = Object.hasOwn(PACKAGE_HOMES, specifier) ? PACKAGE_HOMES[specifier]! : undefined
  if (layer === 'core' || (layer === 'guards' && !known?.includes(layer))) return `${layer} needs no package`
  const homes = known ?? [layer]
  return homes.includes(layer) ? undefined : `${specifier} belongs to ${homes.join(' and ')}`
}

/** The engine that a file belongs to; undefined for files that all share. */
const engineOf = (file: string): string | undefined => /^engines\/(.+?)\//.exec(file)?.[1]

/** Others reach an engine through the registry, which loads it only when a store needs it. */
function brokenEngineRule(file: string, layer: Layer, imported: string): string | undefined {
  const engine = engineOf(imported)
  if (layer === 'engines') {
    if (engineOf(file) === undefined || engineOf(file) === engine) return undefined
    if (engine !== undefined) return 'engines do not know each other'
    return imported === 'engines/registry.ts' ? 'engines do not know which others there are' : undefined
  }
  if (engine === undefined) return undefined
  if (layer === 'config' && imported.endsWith('/defaults.ts')) return undefined
  if (layer === 'app' && OF_ONE_ENGINE[file]?.includes(engine)) return undefined
  return 'only engines/registry.ts knows which engines there are'
}

/** Engines that are named in a text of the program, such as `=== 'redis'`. */
function namedEngines(file: string, source: string): string[] {
  if (file.startsWith('engines/')) return []
  const named = ENGINES.filter((engine) => source.includes(`'${engine}'`))
  return named.filter((engine) => !OF_ONE_ENGINE[file]?.includes(engine))
}

function readSources(): Sources {
  const files = readdirSync(ROOT, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(files.map((file) => [relative(ROOT, file).replaceAll(sep, '/'), readFileSync(file, 'utf8')]))
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
    assert.ok(findGuards(sources).has('guards/allowlist/index.ts'))
    assert.ok(findGuards(sources).has('guards/access/index.ts'))
    assert.ok(findGuards(sources).has('guards/rate-limit/index.ts'))
    for (const guard of GUARDS) assert.ok(sources.has(`guards/${guard}/port.ts`), guard)
    assert.ok(ENGINES.length >= 3, ENGINES.join())
    for (const engine of ENGINES) assert.ok(sources.has(`engines/${engine}/entry.ts`), engine)
  })

  it('has no file that loads itself, and no two folders that load each other', () => {
    assert.deepEqual(findCycle(sources), [])
    assert.deepEqual(findKnots(sources), [])
  })

  it('sees circles and knots', () => {
    const a = ['app/a/x.ts', "import { type T, y } from '../b/y.js'"] as const
    const b = ['app/b/y.ts', "import { x } from '../a/x.js'"] as const
    assert.deepEqual(findCycle(new Map([a, b])), ['app/a/x.ts', 'app/b/y.ts', 'app/a/x.ts'])
    assert.deepEqual(findKnots(new Map([a, b])), [
      'app/a/x.ts loads app/b/y.ts, and app/b/y.ts loads app/a/x.ts',
    ])
    const types = [
      'app/b/y.ts',
      "import { type X } from '../a/x.js'\nimport type { Z } from '../a/z.js'",
    ] as const
    assert.deepEqual([...findCycle(new Map([a, types])), ...findKnots(new Map([a, types]))], [])
  })

  const port = ['guards/allowlist/port.ts', 'export interface ListStore {}'] as const
  const guard = ['guards/allowlist/guard.ts', "import type { ListStore } from './port.js'"] as const
  const breaches: [string, string, string, RegExp][] = [
    ['adapter → framework', 'adapters/x.ts', "import express from 'express'", /only types of frameworks/],
    [
      'guard → engine',
      'guards/allowlist/x.ts',
      "import '../../engines/embedded/index.js'",
      /guards may import only/,
    ],
    [
      'engine → guard',
      'engines/embedded/x.ts',
      "import { G } from '../../guards/allowlist/guard.js'",
      /no guard/,
    ],
    ['engine → engine', 'engines/a/x.ts', "export * from '../b/y.js'", /each other/],
    ['engine → registry', 'engines/a/x.ts', "import '../registry.js'", /which others there are/],
    ['app → engine', 'app/x.ts', "await import('../engines/redis/index.js')", /only engines\/registry\.ts/],
    ['config → engine', 'config/x.ts', "import '../engines/redis/index.js'", /only engines\/registry\.ts/],
    ['name of an engine', 'cli/x.ts', "if (engine === 'redis') {}", /names 'redis'/],
    ['server → engine', 'server/x.ts', "await import('../engines/a/x.js')", /server may import only/],
    ['server → config', 'server/x.ts', "import { c } from '../config/load.js'", /server may import only/],
    ['library → config', 'app/x.ts', "import { c } from '../config/load.js'", /app may import only/],
    ['client → Node', 'client/x.ts', "import { request } from 'node:http'", /what browsers have/],
    ['client → its part for Node', 'client/x.ts', "import { f } from './node.js'", /what browsers have/],
    ['server → load', 'server/x.ts', "import { m } from '../cli/load/measure.js'", /server may import only/],
    ['library → cli', 'app/x.ts', "import { c } from '../cli/main.js'", /app may import only/],
    [
      'core → guard',
      'core/x.ts',
      "import {\n  a,\n} from '../guards/access/index.js'",
      /core may import only/,
    ],
    [
      'cli → engine',
      'cli/x.ts',
      "new URL('../engines/a/x.js', import.meta.url)",
      /only engines\/registry\.ts/,
    ],
    ['guard → package', 'guards/allowlist/x.ts', "import { open } from 'lmdb'", /needs no package/],
    ['server → lru-cache', 'server/x.ts', "import 'lru-cache'", /belongs to guards/],
    ['server → lmdb', 'server/x.ts', "import { open } from 'lmdb'", /belongs to engines/],
    ['client → wire', 'client/x.ts', "import { WIRE } from '../wire/index.js'", /only types/],
    ['server → typebox', 'server/x.ts', "import { Type } from 'typebox'", /belongs to wire/],
    ['environment', 'server/x.ts', 'const x = process.env.HOME', /process\.env/],
    ['timer', 'server/x.ts', 'setInterval(() => this.look(), 5)', /use core\/timers\.ts/],
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
      [
        'engines/embedded/x.ts',
        "import type { ListStore } from '../../guards/allowlist/port.js'\nimport 'lmdb'",
      ],
      ['app/x.ts', "import '../engines/registry.js'\nimport type { E } from '../engines/engine.js'"],
      ['app/redlock.ts', "import '../engines/redis/lock/redlock.js'\nconst name = 'redis'"],
      ['config/x.ts', "import '../engines/redis/defaults.js'\nimport '../engines/registry.js'"],
      ['cli/x.ts', "import '../server/x.js'\nimport '../config/load.js'\nimport 'commander'"],
      ['server/x.ts', "import type { C } from '../app/x.js'\nimport fastify from 'fastify'"],
      ['client/x.ts', "import type { WIRE } from '../wire/index.js'"],
    ])
    assert.deepEqual(violationsOf(right), [])
  })
})
