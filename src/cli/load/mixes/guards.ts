import { below, type Mix, operation } from './mix.js'

const RESOURCE = 'load'
/** Far more than one machine can consume, so most requests are allowed, and denials show overload. */
const LIMIT = { capacity: 1_000_000, refillAmount: 1_000_000, refillPeriodSeconds: 1 }
const HOUR_MS = 3_600_000
const REVOKED_SHARE = 0.1
const REVOKE_AT_ONCE = 1000
const WRITE_SHARE = 0.1

export const limitsMix: Mix = {
  description: 'acquire of one limit over so many entities as --keys says',
  prepare: (target) =>
    target.limits.setConfig({ level: 'resource', resource: RESOURCE }, { limits: { requests: LIMIT } }),
  cleanup: async (target) =>
    void (await target.limits.deleteConfig({ level: 'resource', resource: RESOURCE })),
  open({ origin, random, keys }) {
    const acquire = operation('limits: acquire', 200, 429)
    return () => ({
      operation: acquire,
      text: origin.send(
        'POST',
        '/limits/acquire',
        `{"entity":"load-${below(random, keys)}","resource":"${RESOURCE}"}`,
      ),
    })
  },
}

export const tokensMix: Mix = {
  description: 'is this token revoked? one in ten is',
  async prepare(target, { keys }) {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
    const revoked = Array.from({ length: keys }, (_, i) => ({ jti: `load-revoked-${i}`, expiresAt }))
    for (let from = 0; from < keys; from += REVOKE_AT_ONCE)
      await target.tokens.revokeAll(revoked.slice(from, from + REVOKE_AT_ONCE))
  },
  open({ origin, random, keys }) {
    const check = operation('tokens: check', 200)
    return () => {
      const kind = random() < REVOKED_SHARE ? 'revoked' : 'passed'
      return { operation: check, text: origin.get(`/revoked-tokens/load-${kind}-${below(random, keys)}`) }
    }
  },
}

export const cacheMix: Mix = {
  description: 'nine reads and one write of a cache space that the server configures (--cache-space)',
  async prepare(target, { cacheSpace, keys }) {
    for (let i = 0; i < keys; i++) await target.cache.set(cacheSpace, `load-${i}`, { i })
  },
  async cleanup(target, { cacheSpace, keys }) {
    for (let i = 0; i < keys; i++) await target.cache.delete(cacheSpace, `load-${i}`)
  },
  open({ origin, random, keys, cacheSpace }) {
    const read = operation('cache: read', 200, 404)
    const write = operation('cache: write', 204)
    const space = encodeURIComponent(cacheSpace)
    return () => {
      const path = `/cache/${space}/load-${below(random, keys)}`
      if (random() >= WRITE_SHARE) return { operation: read, text: origin.get(path) }
      return { operation: write, text: origin.send('PUT', path, '{"value":{"written":"under load"}}') }
    }
  },
}
