import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type LoadOptions, loadConfig, storeOf } from '../../src/config/load.js'
import { CatracaError } from '../../src/core/errors.js'
import { SERVER_DEFAULTS } from '../../src/server/options.js'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'catraca-config-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const load = (options: Partial<LoadOptions> = {}) => loadConfig({ env: {}, cwd, ...options })
const file = (content: unknown, name = 'catraca.config.json') =>
  writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content))

function refusal(options: Partial<LoadOptions>): CatracaError {
  try {
    load(options)
  } catch (error) {
    assert.ok(error instanceof CatracaError, String(error))
    assert.equal(error.code, 'CONFIG_INVALID')
    return error
  }
  assert.fail('the configuration was accepted')
}

describe('where a setting comes from', () => {
  it('has defaults for everything, those of the server among them', () => {
    const { store, server, keys, client } = load()
    assert.equal(store, 'embedded:./catraca-data')
    assert.deepEqual(keys.read(), [])
    assert.equal(client.key.read(), undefined)
    assert.equal(client.url, undefined)
    for (const name of Object.keys(SERVER_DEFAULTS) as (keyof typeof SERVER_DEFAULTS)[]) {
      if (name in server) assert.deepEqual(server[name as keyof typeof server], SERVER_DEFAULTS[name], name)
    }
  })

  it('takes flags over the environment over the file over the default', () => {
    const env = { CATRACA_PORT: '2000', CATRACA_HOST: 'env.example' }
    file({ server: { port: 1000, host: 'file.example', workers: 3 } })
    const { server } = load({ env, flags: { 'server.port': '3000' } })
    assert.deepEqual([server.port, server.host, server.workers], [3000, 'env.example', 3])
    assert.equal(load({ env }).server.port, 2000)
    assert.equal(load().server.port, 1000)
    assert.equal(load({ flags: { 'server.port': undefined } }).server.port, 1000)
  })

  it('reads splits of limits, also of entities with a = in their name', () => {
    const env = { CATRACA_DYNAMODB_SPLIT_LIMITS: 'chat=8, search/a=b@x=32' }
    assert.deepEqual(load({ env }).dynamodb.splitLimits, [
      { resource: 'chat', parts: 8 },
      { resource: 'search', entity: 'a=b@x', parts: 32 },
    ])
  })

  it('reads the file named by flag before the one named by the environment', () => {
    file({ server: { port: 1 } }, 'a.json')
    file({ server: { port: 2 } }, 'b.json')
    file({ server: { port: 3 } })
    assert.equal(load().server.port, 3)
    assert.equal(load({ env: { CATRACA_CONFIG: 'a.json' } }).server.port, 1)
    assert.equal(load({ env: { CATRACA_CONFIG: 'a.json' }, configFile: join(cwd, 'b.json') }).server.port, 2)
  })

  it('lets a store of its own win for a capability, except over the flag', () => {
    const env = { CATRACA_STORE: 'embedded:./all', CATRACA_STORE_ALLOWLISTS: 'embedded:./lists' }
    assert.equal(storeOf(load({ env }), 'allowlists'), 'embedded:./lists')
    assert.equal(storeOf(load({ env, flags: { store: 'memory:' } }), 'allowlists'), 'memory:')
    assert.equal(storeOf(load({ env: { CATRACA_STORE: 'memory:' } }), 'allowlists'), 'memory:')
  })

  it('gives an object that nobody can change', () => {
    const config = load()
    assert.ok(Object.isFrozen(config) && Object.isFrozen(config.server) && Object.isFrozen(config.client))
  })
})

describe('what stops the start', () => {
  const MANY_IDS = Array.from({ length: 10_000 }, (_, i) => `list-${i}`).join(',')
  const refused: [string, Partial<LoadOptions>, RegExp][] = [
    ['unknown variable', { env: { CATRACA_PROT: '1' } }, /^environment CATRACA_PROT is not a setting$/],
    ['file of no secret', { env: { CATRACA_PORT_FILE: 'x' } }, /^environment CATRACA_PORT_FILE is not a/],
    ['empty variable', { env: { CATRACA_KEYS: '' } }, /^environment CATRACA_KEYS is empty$/],
    ['empty file name', { env: { CATRACA_CONFIG: '' } }, /^environment CATRACA_CONFIG is empty$/],
    ['text as port', { env: { CATRACA_PORT: '80a' } }, /^environment CATRACA_PORT must be a whole number/],
    ['hexadecimal port', { env: { CATRACA_PORT: '0x50' } }, /CATRACA_PORT must be a whole number/],
    ['port of a flag', { flags: { 'server.port': '70000' } }, /^flag --port must be a whole .* 0 to 65535$/],
    ['no workers', { flags: { 'server.workers': '0' } }, /^flag --workers must be/],
    ['level', { env: { CATRACA_LOG_LEVEL: 'loud' } }, /CATRACA_LOG_LEVEL must be one of trace, debug/],
    ['share', { env: { CATRACA_ACCESS_LOG_SAMPLING: '1.5' } }, /SAMPLING must be a number from 0 to 1/],
    ['boolean', { env: { CATRACA_LOG_CUSTOMER_IDS: 'yes' } }, /CUSTOMER_IDS must be true or false/],
    ['durability', { env: { CATRACA_EMBEDDED_DURABILITY: 'none' } }, /must be one of disk, process/],
    ['store', { flags: { store: 'mysql://x' } }, /^flag --store is wrong: the store URL must have one/],
    ['hot tier', { env: { CATRACA_DYNAMODB_HOT_TIER: 'memory:' } }, /HOT_TIER must be a redis:\/\/ URL/],
    ['hot lists', { env: { CATRACA_DYNAMODB_HOT_LISTS: 'a,,b' } }, /HOT_LISTS is wrong: each id must be/],
    [
      '10,000 flags',
      { env: { CATRACA_FLAGS_EXPOSED: MANY_IDS } },
      /EXPOSED must not have more than 1000 entries$/,
    ],
    ['url', { env: { CATRACA_URL: 'localhost:80' } }, /^environment CATRACA_URL must be a URL with http/],
    ['url with key', { env: { CATRACA_URL: 'http://a:b@c' } }, /CATRACA_URL must hold no credentials/],
    ['missing file', { configFile: 'nowhere.json' }, /^file nowhere\.json cannot be read \(ENOENT\)$/],
    ['missing secret', { env: { CATRACA_KEY_FILE: '/no/such' } }, /KEY_FILE names \/no\/such, which cannot/],
    ['both', { env: { CATRACA_KEY: 'a', CATRACA_KEY_FILE: 'b' } }, /CATRACA_KEY_FILE contradicts .*_KEY$/],
    ['service link', { env: { CATRACA_SERVICE_HOST: '10.0.0.1' } }, /enableServiceLinks: false$/],
    ['service port', { env: { CATRACA_PORT: 'tcp://10.0.0.1:80' } }, /whole number.*enableServiceLinks/],
  ]
  for (const [name, options, message] of refused) {
    it(name, () => assert.match(refusal(options).message, message))
  }

  const files: [string, unknown, RegExp][] = [
    ['unknown key', { server: { prot: 1 } }, /^file catraca\.config\.json: server\.prot is not a setting$/],
    ['text as port', { server: { port: '80' } }, /^file catraca\.config\.json: server\.port must be a whole/],
    ['value as group', { server: 80 }, /json: server must be an object$/],
    ['group as value', { store: { url: 'memory:' } }, /json: store must be a text/],
    ['null', { store: null }, /json: store must be a text/],
    [
      'limits split into one',
      { dynamodb: { splitLimits: ['a=1'] } },
      /splitLimits must be RESOURCE=PARTS or .* 2 to 256/,
    ],
    [
      'a limit split twice',
      { dynamodb: { splitLimits: ['a=2', 'a=3'] } },
      /splitLimits names a limit twice$/,
    ],
    ['a split of no resource', { dynamodb: { splitLimits: ['a:b=2'] } }, /splitLimits is wrong: /],
    ['ids as text', { dynamodb: { hotLists: 'a,b' } }, /json: dynamodb\.hotLists must be an array of ids$/],
    ['no object', [1], /^file catraca\.config\.json must hold one JSON object$/],
    ['no JSON', '{ port: 1 }', /^file catraca\.config\.json is not JSON: /],
    ['prototype', '{ "__proto__": { "port": 1 } }', /json: __proto__ is not a setting$/],
    ['constructor', { constructor: 1 }, /json: constructor is not a setting$/],
    ['file of no secret', { server: { portFile: 'x' } }, /json: server\.portFile is not a setting$/],
    ['secret file', { client: { keyFile: 5 } }, /json: client\.keyFile must be the name of a file$/],
  ]
  for (const [name, content, message] of files) {
    it(`in the file: ${name}`, () => {
      file(content)
      assert.match(refusal({}).message, message)
    })
  }

  it('a wrong value even where another source wins', () => {
    file({ server: { port: -1 } })
    assert.match(refusal({ env: { CATRACA_PORT: '80' } }).message, /server\.port/)
  })

  it('all at once, the first in the message and every other one beneath', () => {
    const { message, errors } = refusal({ env: { CATRACA_PORT: 'x', CATRACA_WORKERS: 'y', CATRACA_Z: 'z' } })
    assert.match(message, /CATRACA_Z/)
    assert.deepEqual(
      errors?.map(({ path }) => path),
      ['environment CATRACA_PORT', 'environment CATRACA_WORKERS'],
    )
  })

  it('without telling a password', () => {
    const { message } = refusal({ env: { CATRACA_STORE: 'redis://u:hunter2@h:x' } })
    assert.doesNotMatch(message, /hunter2/)
  })
})
