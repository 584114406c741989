import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.js'
import { command, scratch } from './run.js'

const dir = scratch()
after(() => dir.remove())
const run = (args: string[], env: Record<string, string> = {}) => command(args, { cwd: dir.path, env })

function leaves(command: Command, names: string[] = []): [string[], Command][] {
  return command.commands.flatMap((child): [string[], Command][] => {
    const path = [...names, child.name()]
    return child.commands.length > 0 ? leaves(child, path) : [[path, child]]
  })
}

describe('every command', () => {
  const commands = leaves(buildProgram({ json: false }))

  it('is among those that were promised', () => {
    const names = new Set(commands.map(([path]) => path.join(' ')))
    const allowlist = 'create get list update delete add remove import export ramp'.split(' ')
    for (const name of ['serve', 'check', 'key create', 'key update', 'key list', 'key revoke'])
      assert.ok(names.has(name), name)
    for (const name of 'get set delete resolve plan apply'.split(' '))
      assert.ok(names.has(`config ${name}`), name)
    for (const name of 'status reset acquire usage'.split(' ')) assert.ok(names.has(`limits ${name}`), name)
    for (const name of ['get', 'delete']) assert.ok(names.has(`idempotency ${name}`), name)
    for (const name of allowlist) assert.ok(names.has(`allowlist ${name}`), name)
  })

  it('has a description, --help, and --json where it prints data', () => {
    for (const [path, command] of commands) {
      assert.notEqual(command.description(), '', path.join(' '))
      assert.match(command.helpInformation(), /-h, --help/)
      if (!['serve', 'relay'].includes(path[0]!))
        assert.match(command.helpInformation(), /--json/, path.join(' '))
    }
  })

  it('takes --json as a switch', () => {
    for (const [path, command] of commands) {
      const json = command.options.find(({ long }) => long === '--json')
      assert.ok(json === undefined || json.isBoolean(), path.join(' '))
    }
  })
})

describe('bin/catraca.js', () => {
  it('is the command of the package', () => {
    const root = new URL('../../../', import.meta.url)
    const { bin, version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    const file = fileURLToPath(new URL(bin.catraca, root))
    assert.equal(execFileSync(file, ['--version'], { encoding: 'utf8' }), `${version}\n`)
  })
})

describe('an option that is missing', () => {
  it('is told as missing, with 2', async () => {
    const wrong: [string[], string][] = [
      [['config', 'get', '--level', 'system'], '--resource must be given'],
      [['config', 'delete', '--level', 'resource'], '--resource must be given'],
      [['config', 'get', '--level', 'entity', '--resource', 'api'], '--entity must be given'],
    ]
    for (const [args, message] of wrong) {
      const { code, stderr } = await run([...args, '--store', 'memory:'])
      assert.equal(code, 2)
      assert.ok(stderr.includes(message), stderr)
    }
  })
})

describe('help', () => {
  for (const args of [['--help'], ['allowlist', 'import', '--help'], ['help', 'check'], ['--version']]) {
    it(`${args.join(' ')} goes to standard output with 0`, async () => {
      const { code, stdout, stderr } = await run(args)
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /Usage: catraca|^\d+\.\d+\.\d+/)
    })
  }

  it('is shown with 2 when no command is given', async () => {
    const { code, stdout, stderr } = await run(['allowlist'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /Usage: catraca allowlist/)
  })
})

describe('wrong usage exits with 2 and one line', () => {
  const wrong: [string[], RegExp][] = [
    [['chekc', 'a'], /unknown command 'chekc'.*Did you mean check/],
    [['check', 'a'], /required option '--allowlists <ids>' not specified/],
    [['check', 'a', '--allowlists', 'x', '--frobnicate'], /unknown option '--frobnicate'/],
    [['check', 'a', '--allowlists', 'x,,y'], /Separate the ids by single commas/],
    [['check', 'a', '--allowlists', 'x', '--consistency', 'weak'], /Allowed choices are strong/],
    [['check', 'a b', '--allowlists', 'x', '--store', 'memory:'], /customerId must be 1 to 256 characters/],
    [['allowlist', 'get'], /missing required argument 'id'/],
    [['allowlist', 'create', '--name', 'x', '--type', 'FIX'], /Allowed choices are FIXA, ONDA/],
    [['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--percentage', '1.1'], /share from 0 to 1/],
    [['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--start', '2026-01-01'], /ISO 8601 time/],
    [['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--base', 'b'], /--strategy is required/],
    [['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--config', '{'], /JSON object, or @FILE/],
    [
      ['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--config', '@no'],
      /cannot be read \(ENOENT\)/,
    ],
    [['allowlist', 'ramp', 'x'], /must be one of --to, --step, --clear and --pause/],
    [['allowlist', 'ramp', 'x', '--to', '1', '--pause'], /cannot be used with/],
    [['allowlist', 'ramp', 'x', '--step', 'now=1'], /ISO 8601 time/],
    [['allowlist', 'import', 'x', 'no-such-file.csv'], /no-such-file\.csv cannot be read \(ENOENT\)/],
    [['allowlist', 'import', 'x', '.'], /is a directory/],
    [['allowlist', 'list', '--store', 'memory:', '--url', 'http://h'], /cannot be used with/],
    [['allowlist', 'list', '--store', 'mysql://h'], /flag --store is wrong/],
    [['allowlist', 'list', '--store', 'memory:', '--limit', '5000'], /limit must be/],
    [['serve', '--port', '99999'], /flag --port must be a whole number/],
  ]
  for (const [args, message] of wrong) {
    it(args.join(' '), async () => {
      const { code, stdout, stderr } = await run(args)
      assert.match(stderr, message)
      assert.match(stderr, /^catraca: .*\n$/)
      assert.deepEqual([code, stdout], [2, ''])
    })
  }

  it('says so in JSON when asked', async () => {
    const { code, stdout, stderr } = await run(['check', 'a', '--json'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(JSON.parse(stderr).code, 'INVALID_INPUT')
  })
})

describe('failures exit with 1', () => {
  it('for a setting that is not one, in the environment and in the file', async () => {
    const { code, stderr } = await run(['allowlist', 'list', '--store', 'memory:'], { CATRACA_PROT: '1' })
    assert.deepEqual([code, stderr], [1, 'catraca: environment CATRACA_PROT is not a setting\n'])
    writeFileSync(dir.file('other.json'), '{"server":{"prot":1}}')
    const byFile = await run(['serve', '--config', 'other.json'])
    assert.equal(byFile.stderr, 'catraca: file other.json: server.prot is not a setting\n')
    assert.equal(byFile.code, 1)
  })

  it('for an engine that is not there', async () => {
    // It tries again until then, and tells the last reason: there must be one by then, also on a busy machine.
    const soon = { CATRACA_REDIS_CONNECT_TIMEOUT_MS: '2000' }
    const { code, stderr } = await run(['allowlist', 'list', '--store', 'redis://:pw@127.0.0.1:1'], soon)
    assert.equal(code, 1)
    assert.match(stderr, /^catraca: Redis is not available: .*127\.0\.0\.1:1.*\n$/)
    assert.doesNotMatch(stderr, /pw/)
  })

  it('with every wrong field beneath, and as JSON', async () => {
    const args = ['allowlist', 'create', '--name', 'x', '--type', 'ONDA', '--store', 'memory:']
    const config = ['--config', '{"strategy":"SOME","percentage":2}']
    const plain = await run([...args, ...config])
    assert.equal(plain.code, 2)
    assert.match(plain.stderr, /^catraca: config\.strategy .*\n( {2}config\.\S+ .*\n){2}$/)
    const json = await run([...args, ...config, '--json'])
    const problem = JSON.parse(json.stderr)
    assert.equal(problem.code, 'INVALID_INPUT')
    assert.deepEqual(
      problem.errors.map(({ path }: { path: string }) => path),
      ['config.strategy', 'config.percentage'],
    )
  })

  it('without a stack, unless it is asked for', async () => {
    const args = ['allowlist', 'get', 'x', '--store', 'memory:']
    const quiet = await run(args)
    assert.deepEqual([quiet.code, quiet.stderr], [1, 'catraca: there is no allowlist x\n'])
    const loud = await run(args, { CATRACA_DEBUG: 'true' })
    assert.match(loud.stderr, /\n\s+at /)
  })
})
