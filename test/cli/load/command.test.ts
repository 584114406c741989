import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { LoadResult } from '../../../src/cli/load/result.js'
import { command, type Ended, type Served, scratch, serve, start } from '../run.js'

const dir = scratch()
let server: Served
before(async () => {
  server = await serve(['--store', `embedded:${dir.file('data')}`], {
    cwd: dir.path,
    env: { CATRACA_CACHE_SPACES: JSON.stringify([{ name: 'load', ttlMs: 60_000 }]) },
  })
})
after(async () => {
  await server.stop()
  dir.remove()
})

/** The same questions each time: by chance a run would lack a kind of them now and then. */
const bench = (...args: string[]): Promise<Ended> => {
  const always = ['--no-spin', '--timeout', '1m', '--warm-up', '0', '--seed', '1']
  return command(['bench', 'load', ...always, ...args], { cwd: dir.path })
}
const load = (...args: string[]): Promise<Ended> => bench('--url', server.url, '--rate', '200', ...args)
const read = (file: string): LoadResult => JSON.parse(readFileSync(dir.file(file), 'utf8'))

describe('catraca bench load', () => {
  it("asks the source's mix, and proves by the server's own count that it was that", async () => {
    const sizes = ['--rate', '500', '--duration', '2s', '--members', '3000', '--prepare', '--cleanup']
    const files = ['--report', dir.file('r.json'), '--html', dir.file('r.html')]
    const { code, stdout, stderr } = await load(...sizes, ...files, '--max-errors', '0', '--max-p99', '1h')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /answered +1,000/)
    const { due, answered, errorCount, operations, answers, samples } = read('r.json')
    assert.deepEqual([due, answered, errorCount], [1000, 1000, 0])
    assert.deepEqual(operations.map(({ name }) => name).sort(), [
      ...['check: cached', 'check: confirmed', 'check: filtered'],
    ])
    assert.ok(answers!.total >= 1000 && samples.length >= 1)
    const { verified, filtered, confirmed } = answers!.shares
    // The hot customers are confirmed once each before they are cached: 100 of 1,000.
    assert.ok(verified > 0.5 && filtered > 0.05 && confirmed > 0.05, JSON.stringify(answers))
    assert.match(readFileSync(dir.file('r.html'), 'utf8'), /^<!doctype html>[\s\S]*<svg/)
    const gone = await command(['allowlist', 'get', 'load-allowlist', '--url', server.url], { cwd: dir.path })
    assert.equal(gone.code, 1)
  })

  it('asks everything else without an error', async () => {
    const mix = 'checks=3,limits=2,idempotency=4,locks=3,tokens=2,cache=6'
    const sizes = ['--duration', '1s', '--members', '500', '--keys', '20', '--prepare', '--cleanup']
    const names = new Set<string>()
    // Only what was completed is replayed: nothing in a run that could send nothing until its end.
    do {
      const { code, stdout, stderr } = await load('--mix', mix, ...sizes, '--json')
      assert.equal(code, 0, stderr)
      const { errorCount, operations } = JSON.parse(stdout) as LoadResult
      assert.equal(errorCount, 0, stdout)
      for (const { name } of operations) names.add(name)
      assert.match(stderr, /in flight/, 'the seconds go where they do not disturb the JSON')
    } while (!names.has('idempotency: replay'))
    assert.deepEqual([...names].sort(), [
      ...['cache: read', 'cache: write', 'check', 'idempotency: claim', 'idempotency: complete'],
      ...['idempotency: replay', 'limits: acquire', 'locks: acquire', 'locks: release', 'tokens: check'],
    ])
  })

  it('exits with 1 when a bound is broken, and says which', async () => {
    const broken = await load(
      '--mix',
      'cache',
      '--cache-space',
      'none',
      '--duration',
      '300ms',
      '--max-errors',
      '0',
    )
    assert.deepEqual([broken.code, /errors, more than 0/.test(broken.stderr)], [1, true], broken.stderr)
    const slow = await load('--mix', 'tokens', '--duration', '300ms', '--max-p99', '0.001ms')
    assert.deepEqual([slow.code, /p99 is .* more than 0.001 ms/.test(slow.stderr)], [1, true])
  })

  it('finds the highest rate step by step', async () => {
    const steps = ['--mix', 'tokens', '--step-duration', '200ms', '--ramp', '20..80', '--max-p99', '1h']
    const { code, stdout } = await load(...steps)
    assert.equal(code, 0)
    assert.equal(stdout.match(/\/s {2}answered .* kept/g)?.length, 8)
    assert.match(stdout, /highest rate that kept the bounds: 80\/s/)
  })

  it('ends with a report on ^C', async () => {
    const args = ['bench', 'load', '--url', server.url, '--no-spin', '--rate', '100', '--duration', '1h']
    const running = start([...args, '--mix', 'tokens'], { cwd: dir.path })
    await running.said(/1 s /, 'stdout')
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    assert.equal(code, 0)
    assert.match(stdout, /ended early[\s\S]*latency, from when due/)
  })

  it('does not load a list that is not there', async () => {
    const { code, stderr } = await load('--lists', 'missing', '--duration', '1s')
    assert.deepEqual([code, /missing/.test(stderr)], [1, true], stderr)
  })

  it('never shows the key', async () => {
    const env = { CATRACA_KEY: 'very-secret-key' }
    const args = [
      'bench',
      'load',
      '--url',
      server.url,
      '--mix',
      'tokens',
      '--duration',
      '200ms',
      '--rate',
      '50',
    ]
    const { stdout, stderr } = await command([...args, '--json', '--html', dir.file('k.html')], { env })
    assert.ok(!`${stdout}${stderr}${readFileSync(dir.file('k.html'), 'utf8')}`.includes('very-secret'))
    assert.match(stdout, /"statuses"/)
  })
})

describe('wrong usage of catraca bench load', () => {
  const wrong: Record<string, string[]> = {
    'a rate of none': ['--rate', '0'],
    'a rate that is none': ['--rate', 'fast'],
    'a time without a unit': ['--duration', '30'],
    'a time of none': ['--duration', '0s'],
    'an unknown mix': ['--mix', 'nothing'],
    'a ramp that falls': ['--ramp', '200..100'],
    'two ways to search': ['--find-max', '--ramp', '1..2'],
    'lists that would be overwritten': ['--prepare', '--lists', 'vip'],
    'a url of something else': ['--url', 'ftp://127.0.0.1/'],
    'a url with a password': ['--url', 'http://me:secret@127.0.0.1/'],
    'more connections than allowed': ['--connections', '10', '--max-connections', '5'],
    'customers that cannot be read': ['--customers', '/nowhere/at-all'],
    'arrivals of no kind': ['--arrivals', 'bursts'],
  }
  for (const [name, args] of Object.entries(wrong)) {
    it(`${name} is refused with 2`, async () => {
      const { code, stderr } = await bench('--url', 'http://127.0.0.1:9', ...args)
      assert.equal(code, 2, stderr)
      assert.ok(!stderr.includes('secret'))
    })
  }

  it('no server is refused with 2', async () => {
    const { code, stderr } = await bench()
    assert.deepEqual([code, /--url/.test(stderr)], [2, true], stderr)
  })
})
