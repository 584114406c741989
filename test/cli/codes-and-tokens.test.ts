import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catraca, command, type Ended, type Served, scratch, serve } from './run.js'

const ANN = ['--channel', 'email', '--address', 'ann@example.com']

const directory = scratch()
let served: Served
before(async () => {
  served = await serve(['--store', `embedded:${directory.file('served')}`])
})
after(async () => {
  await served.stop()
  directory.remove()
})

/** The same commands on a store opened by the command itself, and on a server. */
const TARGETS: Record<string, () => string[]> = {
  'on a store': () => ['--store', `embedded:${directory.file('opened')}`],
  'on a server': () => ['--url', served.url],
}

for (const [name, target] of Object.entries(TARGETS)) {
  const run = (...args: string[]): Promise<Ended> => command([...args, ...target()])

  describe(`catraca otp ${name}`, () => {
    it('issues a code, and verifies it once, by argument or standard input', async () => {
      const issued = await run('otp', 'issue', ...ANN, '--json')
      assert.equal(issued.code, 0, issued.stderr)
      const { code, expiresAt } = JSON.parse(issued.stdout)
      assert.match(code, /^\d{6}$/)
      assert.ok(Date.parse(expiresAt) > Date.now())
      const again = await run('otp', 'issue', ...ANN)
      assert.deepEqual([again.code, again.stdout], [1, ''])
      assert.match(again.stderr, /too often; try again in \d+ ms/)
      const wrong = await run('otp', 'verify', ...ANN, 'x', '--exit-code')
      assert.deepEqual([wrong.code, wrong.stdout], [3, 'invalid\n'])
      const right = await catraca(['otp', 'verify', ...ANN, '--exit-code', ...target()], {
        input: `${code}\n`,
      })
      assert.deepEqual([right.code, right.stdout], [0, 'valid\n'], right.stderr)
      const used = await run('otp', 'verify', ...ANN, code, '--json')
      assert.deepEqual(JSON.parse(used.stdout), { valid: false, reason: 'INVALID' })
    })

    it('tells wrong usage without repeating the address', async () => {
      const wrong = await run('otp', 'issue', '--channel', 'phone', '--address', '99999')
      assert.equal(wrong.code, 2)
      assert.match(wrong.stderr, /address must be a phone number/)
      assert.ok(!wrong.stderr.includes('99999'))
    })
  })

  describe(`catraca token ${name}`, () => {
    it('revokes tokens and subjects, and checks', async () => {
      const end = ['--expires-at', '2099-01-01T00:00:00Z']
      const revoked = await run('token', 'revoke', 'a', 'b', ...end)
      assert.deepEqual([revoked.code, revoked.stdout], [0, 'revoked a, b until 2099-01-01T00:00:00.000Z\n'])
      const found = await run('token', 'check', 'b', '--exit-code')
      assert.deepEqual([found.code, found.stdout], [3, 'revoked\n'])
      assert.deepEqual(JSON.parse((await run('token', 'check', 'c', '--json')).stdout), { revoked: false })
      const all = await run(
        'token',
        'revoke',
        '--subject',
        'ann',
        '--not-before',
        '2030-01-01T00:00:00Z',
        ...end,
      )
      assert.equal(all.code, 0, all.stderr)
      const ofAnn = (issuedAt: string) =>
        run('token', 'check', 'c', '--subject', 'ann', '--issued-at', issuedAt)
      assert.equal((await ofAnn('2029-01-01T00:00:00Z')).stdout, 'revoked\n')
      assert.equal((await ofAnn('2031-01-01T00:00:00Z')).stdout, 'not revoked\n')
      assert.equal((await run('token', 'revoke', ...end)).code, 2)
      assert.equal((await run('token', 'revoke', 'a')).code, 2)
    })
  })
}
