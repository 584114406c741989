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
  const call = async (method, path, body, reason) => {
    const why = reason === undefined ? {} : { 'catraca-reason': encodeURIComponent(reason) }
    const response = await fetch(url + path, {
      method,
      ...(body === undefined
        ? { headers: { authorization: headers.authorization, ...why } }
        : { headers: { ...headers, ...why }, body: JSON.stringify(body) }),
    })
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
  for (const list of ['vip', 'beta']) await call('PUT', `/allowlists/${list}/customers/ana.souza`, {})
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
  await call('PATCH', '/allowlists/vip', {
    description: 'Customers with a contract of their own.',
    owner: 'team-growth',
    tags: ['growth', 'contracts'],
  })
  await call('POST', '/allowlists/new-home/pause', undefined, 'INC-204: errors on the home screen')
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

const PAUSE_MS = 40
const CUSTOMERS = 48_000

/** Uses the server as programs do, until the function that it returns is called. */
export function useServer(url, key) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const call = (path, body) =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) }).then((answer) => answer.text())
  let isStopped = false
  const use = async () => {
    for (let turn = 0; !isStopped; turn++) {
      const size = 12 + Math.round(8 * Math.sin(turn / 160))
      const customerIds = Array.from(
        { length: size },
        (_, i) => `customer-${String(((turn * 37 + i * 4111) % (CUSTOMERS * 1.2)) * 7919).padStart(9, '0')}`,
      )
      await call('/check', { customerIds, allowlists: ['vip'] })
      await call('/check', { customerIds: customerIds.slice(0, 4), allowlists: ['pix-limits', 'new-home'] })
      if (turn % 9 === 0) {
        await call('/limits/acquire', {
          entity: 'tenant:acme',
          resource: 'payments',
          consume: { perMinute: 1 },
        })
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const done = use()
  return async () => {
    isStopped = true
    await done
  }
}
