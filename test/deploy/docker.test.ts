import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import {
  assertCommand,
  assertOpenRoute,
  assertSettings,
  inRoot,
  read,
  settingsIn,
} from '../support/deploy-names.js'

interface Instruction {
  name: string
  value: string
}

const dockerfile = read('deploy/docker/Dockerfile')
const instructions: Instruction[] = dockerfile
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name, value] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? assert.fail(`not an instruction: ${line}`)
    return { name: name!, value: value!.replace(/\s+/g, ' ') }
  })
const lastFrom = instructions.findLastIndex(({ name }) => name === 'FROM')
const image = instructions.slice(lastFrom)
const values = (among: Instruction[], name: string) =>
  among.filter((one) => one.name === name).map(({ value }) => value)
const only = (name: string): string => {
  const [value, ...others] = values(image, name)
  assert.deepEqual(others, [], name)
  return value ?? assert.fail(`no ${name}`)
}

describe('Dockerfile', () => {
  it('builds in one stage and ships another, on a Node that the package takes', () => {
    const stages = values(instructions, 'FROM')
    assert.deepEqual(stages, ['$' + '{NODE_IMAGE} AS build', '$' + '{NODE_IMAGE}'])
    const [major] = /(?<=node:)\d+/.exec(values(instructions, 'ARG')[0]!)!
    assert.ok(Number(major) >= 20)
    for (const copy of values(image, 'COPY')) assert.match(copy, /^--from=build /)
    const ran = values(instructions, 'RUN').join(' ')
    assert.match(ran, /npm install --ignore-scripts/)
    assert.match(ran, /npm run build .*npm prune --omit=dev/, 'tools go after the build')
  })

  it('copies what is there and what the package needs', () => {
    const [manifests] = values(instructions, 'COPY')
    for (const file of manifests!.split(' ').slice(0, -1)) assert.ok(existsSync(inRoot(file)), file)
    const shipped = values(image, 'COPY').flatMap((copy) => copy.match(/\/build\/\S+/g) ?? [])
    assert.deepEqual(shipped.sort(), [
      '/build/LICENSE',
      '/build/bin',
      '/build/dist',
      '/build/node_modules',
      '/build/package.json',
    ])
  })

  it('leaves out of the context only what the build does not read', () => {
    const ignored = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] }
    const needed = [
      ...include,
      'scripts',
      'bin',
      'package.json',
      'package-lock.json',
      '.npmrc',
      'tsconfig.json',
    ]
    for (const name of [...needed, 'deploy/lambda', 'LICENSE']) assert.ok(!ignored.includes(name), name)
    for (const name of ['.git', '**/node_modules', 'catraca-data', 'deploy/docker'])
      assert.ok(ignored.includes(name))
  })

  it('runs as a user without rights, with data on a volume that this user owns', () => {
    assert.equal(only('USER'), '10001:10001')
    assert.equal(only('VOLUME'), '/var/lib/catraca')
    // Below the mount, which `catraca restore` could not rename.
    assert.match(values(image, 'ENV').join(' '), /CATRACA_STORE=embedded:\/var\/lib\/catraca\/data\b/)
    assert.ok(values(image, 'COPY').some((copy) => /--chown=10001:10001 \S+ \/var\/lib\/catraca$/.test(copy)))
  })

  it('starts, sets, exposes and asks only what exists', () => {
    const [program, script] = JSON.parse(only('ENTRYPOINT'))
    assert.deepEqual([program, script], ['node', `${only('WORKDIR')}/bin/catraca.js`])
    assert.ok(existsSync(inRoot('bin/catraca.js')))
    assertCommand(JSON.parse(only('CMD'))[0])
    assertSettings(settingsIn(dockerfile))
    const set = only('ENV')
    assert.match(set, new RegExp(`CATRACA_PORT=${only('EXPOSE')}\\b`))
    assert.match(set, /CATRACA_STORE=embedded:\/var\/lib\/catraca/)
    const [, path] = /\/\/127\.0\.0\.1:[^/]*(\/\w+)/.exec(only('HEALTHCHECK'))!
    assertOpenRoute(path!)
  })
})

describe('compose file', () => {
  const file = 'deploy/docker/compose.yaml'
  const compose = parse(read(file))
  const { catraca, redis, 'redis-cache': cache } = compose.services
  const beside = (path: string) => inRoot(join(dirname(file), path))

  it('refers only to what it declares and to files that exist', () => {
    assert.ok(existsSync(join(beside(catraca.build.context), catraca.build.dockerfile)))
    for (const { file: path } of Object.values<{ file: string }>(compose.configs))
      assert.ok(existsSync(beside(path)), path)
    for (const [name, one] of Object.entries<Record<string, never[]>>(compose.services)) {
      for (const { source } of (one.configs ?? []) as { source: string }[])
        assert.ok(source in compose.configs)
      for (const secret of (one.secrets ?? []) as (string | { source: string })[])
        assert.ok((typeof secret === 'string' ? secret : secret.source) in compose.secrets, name)
      for (const volume of (one.volumes ?? []) as string[]) {
        const [source] = volume.split(':')
        assert.ok(source!.startsWith('.') ? existsSync(beside(source!)) : source! in compose.volumes, volume)
      }
      for (const needed of Array.isArray(one.depends_on) ? one.depends_on : Object.keys(one.depends_on ?? {}))
        assert.ok(needed in compose.services, needed)
    }
  })

  it('gives the server settings that exist, and secrets as files', () => {
    assertSettings(Object.keys(catraca.environment))
    const files = Object.entries<string>(catraca.environment).filter(([name]) => name.endsWith('_FILE'))
    assert.deepEqual(
      files.map(([, path]) => path.replace('/run/secrets/', '')).sort(),
      [...catraca.secrets].sort(),
    )
    assert.equal(catraca.read_only, true)
  })

  it('keeps what guards know, and lets only caches forget', () => {
    assert.match(redis.command.join(' '), /--appendonly yes .*--maxmemory-policy noeviction/)
    assert.match(cache.command.join(' '), /--maxmemory-policy volatile-lru/)
    assert.match(catraca.environment.CATRACA_STORE, /redis:\/\/redis:/)
    assert.match(catraca.environment.CATRACA_STORE_CACHE, /redis:\/\/redis-cache:/)
  })

  it('watches only when asked, on this machine only', () => {
    for (const name of ['prometheus', 'grafana'])
      assert.deepEqual(compose.services[name].profiles, ['monitoring'])
    for (const { ports = [] } of Object.values<{ ports?: string[] }>(compose.services))
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
    const [scrape] = parse(read('deploy/prometheus/prometheus.yml')).scrape_configs
    assert.equal(scrape.authorization.credentials_file, compose.services.prometheus.secrets[0].target)
    assert.deepEqual(scrape.static_configs[0].targets, ['catraca:8080'])
  })
})
