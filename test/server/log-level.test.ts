import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { LogLevelSwitch } from '../../src/server/http/log-level.js'
import { REDACTED } from '../../src/server/http/logger.js'
import { bearer, serve, until } from './support.js'

function capture(level = 'info') {
  const lines: Record<string, unknown>[] = []
  const options = { level, redact: [...REDACTED] }
  return { lines, logger: pino(options, { write: (text: string) => void lines.push(JSON.parse(text)) }) }
}

describe('the log level', () => {
  it('is changed while the server runs, by admins', async (t) => {
    const { lines, logger } = capture('error')
    const server = await serve(t, { logger, accessLogSampling: 1 })
    assert.deepEqual((await server.call('GET', '/log-level')).json, { level: 'error', configured: 'error' })
    await server.call('GET', '/allowlists')
    assert.equal(lines.length, 0)
    const changed = await server.call('PUT', '/log-level', { body: { level: 'info' } })
    assert.deepEqual(changed.json, { level: 'info', configured: 'error' })
    await server.call('GET', '/allowlists')
    await until('logged', () => lines.some(({ route }) => route === '/allowlists'))
    const { json } = await server.call('POST', '/keys', { body: { name: 'eye', scopes: ['read'] } })
    const headers = bearer(json.key)
    const refused = await server.call('PUT', '/log-level', { body: { level: 'trace' }, headers })
    assert.equal(refused.status, 403)
    assert.equal((await server.call('GET', '/log-level', { headers })).json.level, 'info')
  })

  it('refuses a level that is none, and names the field', async (t) => {
    const server = await serve(t)
    const wrong = await server.call('PUT', '/log-level', { body: { level: 'loud' } })
    assert.equal(wrong.status, 400)
    assert.match(wrong.json.errors[0].path, /level/)
    const long = await server.call('PUT', '/log-level', { body: { level: 'info', forSeconds: 86_401 } })
    assert.match(long.json.errors[0].path, /forSeconds/)
  })

  it('goes back by itself', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { lines, logger } = capture('warn')
    const level = new LogLevelSwitch(logger, () => 1000)
    level.set('debug', 60)
    assert.deepEqual(level.read(), {
      level: 'debug',
      configured: 'warn',
      until: new Date(61_000).toISOString(),
    })
    t.mock.timers.tick(59_999)
    assert.equal(logger.level, 'debug')
    t.mock.timers.tick(1)
    assert.deepEqual(level.read(), { level: 'warn', configured: 'warn' })
    level.set('trace', 60)
    level.set('error', undefined)
    t.mock.timers.tick(60_000)
    assert.equal(logger.level, 'error')
    level.set('silent', undefined)
    level.set('info', undefined, { key: 'ops' })
    assert.deepEqual(
      lines.map(({ level: severity, logLevel, key }) => [severity, logLevel, key]),
      [
        [40, 'debug', undefined],
        [40, 'warn', undefined],
        [40, 'trace', undefined],
        [40, 'error', undefined],
        [40, 'info', 'ops'],
      ],
    )
  })
})

describe('the log', () => {
  it('writes no secret that somebody hands it with a whole request', () => {
    const { lines, logger } = capture()
    logger.info({ req: { headers: { authorization: 'Bearer s3cret' }, body: { code: 's3cret' } } }, 'one')
    logger.info({ body: { address: 's3cret', token: 's3cret' }, password: 's3cret' }, 'two')
    assert.equal(lines.length, 2)
    assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
  })
})
