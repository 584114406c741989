// The demo data of the screenshots.

/** Fills a store through its API, so that the audit trail has entries. Returns a key with all scopes. */
export async function fillDemo(catraca, url) {
  const { key } = await catraca.keys.create({
    name: 'maria.operations',
    scopes: [
      ...['admin', 'limits', 'idempotency', 'locks', 'cache'],
      ...['codes:issue', 'codes:verify', 'tokens:check', 'tokens:revoke'],
    ],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await new Promise((resolve) => setTimeout(resolve, 500))
  const call = async (method, path, body = {}) => {
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
  await call('POST', '/allowlists', { id: 'vip', name: 'VIP customers', type: 'FIXA' })
  await call('POST', '/allowlists', { id: 'beta', name: 'Beta testers', type: 'FIXA' })
  await call('POST', '/allowlists', { id: 'blocked', name: 'Blocked by risk', type: 'FIXA' })
  await call('POST', '/allowlists', {
    id: 'new-home',
    name: 'New home screen',
    type: 'ONDA',
    config: { strategy: 'PERCENTAGE', percentage: 0.25, exclude: ['blocked'] },
  })
  for (const list of ['vip', 'beta']) await call('PUT', `/allowlists/${list}/customers/ana.souza`)
  await call('PUT', '/allowlists/beta/customers/bruno', { expiresAt: '2031-01-01T00:00:00.000Z' })
  await call('PATCH', '/allowlists/new-home', {
    name: 'New home screen, wave 2',
    config: { strategy: 'PERCENTAGE', percentage: 0.6, exclude: ['blocked'] },
  })
  await call('POST', '/keys', { name: 'checkout-service', scopes: ['check'] })
  await call('POST', '/keys', { name: 'grafana', scopes: ['read'] })
  await fillLists(call, url, key)
  await fillLimits(call)
  await fillRecords(catraca)
  return key
}

async function fillLists(call, url, key) {
  const rows = Array.from({ length: 48_000 }, (_, i) => `customer-${String(i * 7919).padStart(9, '0')}`)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  await fetch(`${url}/allowlists/vip/import`, {
    method: 'POST',
    headers,
    body: `customerId\n${rows.join('\n')}\n`,
  })
  await call('POST', '/allowlists/vip/rebuild')
  const dayMs = 86_400_000
  const ramp = [0.01, 0.05, 0.25, 0.5, 1].map((percentage, i) => ({
    at: Date.now() + (i - 2) * dayMs,
    percentage,
  }))
  await call('POST', '/allowlists', {
    id: 'pix-limits',
    name: 'Pix: new limits',
    type: 'ONDA',
    config: { strategy: 'PERCENTAGE', ramp, base: 'vip', exclude: ['blocked'] },
  })
  for (const [id, name] of [
    ['early-salary', 'Early salary'],
    ['card-virtual', 'Virtual card'],
    ['insurance', 'Insurance offers'],
  ]) {
    await call('POST', '/allowlists', { id, name, type: 'FIXA' })
  }
}

async function fillRecords({ locks, idempotency, codes, tokens }) {
  await locks.acquire('claim:8f2c', { ttlMs: 600_000 })
  await idempotency.run({ operation: 'PRODUCE', key: 'order-1042', payload: {} }, () => ({ paid: true }))
  await codes.issue({ channel: 'email', address: 'ana@example.com' })
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  await tokens.revokeSubject({ subject: 'user-7', notBefore: new Date().toISOString(), expiresAt })
}

async function fillLimits(call) {
  const window = { refillPeriodSeconds: 60, algorithm: 'fixed-window' }
  await call('PUT', '/config/system/payments', {
    limits: {
      perMinute: { capacity: 100, ...window },
      perHour: { capacity: 2000, refillPeriodSeconds: 3600, algorithm: 'sliding-window-counter' },
    },
    onUnavailable: 'allow',
  })
  await call('PUT', '/config/resources/payments', {
    limits: { perMinute: { capacity: 600, burst: 900, algorithm: 'token-bucket' } },
  })
  await call('PUT', '/config/system/CreateEntry', { limits: { perMinute: { capacity: 100, ...window } } })
  await call('PUT', '/config/resources/reports', {
    limits: { atOnce: { capacity: 4, refillPeriodSeconds: 300, algorithm: 'concurrency' } },
  })
  await call('PUT', '/config/entities/tenant:acme/payments', {
    limits: { perMinute: { capacity: 40, burst: 60 } },
  })
  await call('PUT', '/config/entities/tenant:fast-lane/payments', {
    limits: { perMinute: { capacity: 5000, mode: 'shadow' } },
  })
  await call('PUT', '/entities/tenant:acme', { parent: 'group:south' })
  const take = (entity, resource, consume) => call('POST', '/limits/acquire', { entity, resource, consume })
  for (let i = 0; i < 46; i++) await take('tenant:acme', 'payments', { perMinute: 1, perHour: 14 })
  const denied = [
    ['tenant:acme', 60, 19],
    ['tenant:umbra', 900, 12],
    ['tenant:globex', 900, 5],
  ]
  for (const [entity, cost, times] of denied) {
    for (let i = 0; i <= times; i++) await take(entity, 'payments', { perMinute: cost }).catch(() => {})
  }
}

/** Usage of an entity in a day or a month: high by day, low by night, sometimes above its limit. */
export function usage(step) {
  const seconds = step === 'day' ? 86_400 : 3600
  const last = Math.floor(Date.now() / 1000 / seconds)
  const items = Array.from({ length: step === 'day' ? 31 : 24 }, (_, i) => {
    const start = new Date((last - i) * seconds * 1000).toISOString()
    const admitted = Math.round((seconds / 3600) * (900 + 700 * Math.sin(i / 3.8) + 130 * Math.cos(i * 2)))
    const denied = Math.max(0, Math.round(admitted * 0.2 * Math.sin(i / 1.7) - 60))
    return { limit: 'perMinute', start, admitted, denied }
  })
  return { items }
}

const STEP_SECONDS = 5
const STEPS = 720

/** An hour of figures: a slow wave, some noise, and a moment in which the store was slow. */
export function hourOfFigures() {
  let seed = 7
  const noise = () => ((seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 - 0.5) * 2
  const every = (make) => Array.from({ length: STEPS }, (_, i) => Math.round(make(i) * 1000) / 1000)
  const slow = (i) => Math.exp(-(((i - 500) / 14) ** 2))
  const checks = every((i) => 5_200 + 1_400 * Math.sin(i / 110) + 160 * noise())
  const allowed = checks.map((value) => value * (0.86 + 0.01 * noise()))
  const timed = (ms, spike) => every((i) => ms * (1 + 0.12 * noise()) + spike * slow(i))
  return {
    stepSeconds: STEP_SECONDS,
    from: new Date(Date.now() - STEPS * STEP_SECONDS * 1000).toISOString(),
    points: {
      checksPerSecond: checks,
      allowedPerSecond: allowed,
      deniedPerSecond: checks.map((value, i) => value - allowed[i]),
      degradedPerSecond: every((i) => (slow(i) > 0.6 ? 2.4 * slow(i) : 0)),
      fromMemoryShare: every((i) => 0.981 + 0.004 * noise() - 0.05 * slow(i)),
      checkP50Ms: timed(0.011, 0.01),
      checkP95Ms: timed(0.09, 0.8),
      checkP99Ms: timed(0.62, 4.2),
      requestsPerSecond: every((i) => 1_300 + 350 * Math.sin(i / 110) + 40 * noise()),
      httpP50Ms: timed(0.24, 0.1),
      httpP95Ms: timed(0.9, 2),
      httpP99Ms: timed(2.1, 9),
      limitsAllowedPerSecond: every((i) => 420 + 90 * Math.sin(i / 90) + 20 * noise()),
      limitsDeniedPerSecond: every((i) => Math.max(0, 14 + 10 * Math.sin(i / 60) + 5 * noise())),
      cacheHitShare: every(() => 0.93 + 0.01 * noise()),
      eventLoopLagMs: timed(0.4, 2),
      residentBytes: every(() => 182_000_000),
      heapUsedBytes: every((i) => 64_000_000 + (i % 60) * 300_000),
    },
  }
}
