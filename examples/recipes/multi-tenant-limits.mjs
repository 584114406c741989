// Limits for many tenants: a plan for each, one that a single tenant bought, and a share for each user of a tenant.
//
// The entity is the user, its parent the tenant: one acquire takes from both or from neither. Users have the limit of the
// system level. Each tenant has a limit of its own, by its plan or by what was sold to it, and both can be changed while
// everything runs.
import { manualClock, openCatraca } from 'catraca'
import { withRateLimit } from 'catraca/fetch'

// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait.
const clock = manualClock('2030-01-01T12:00:00Z')
const catraca = await openCatraca({ store: 'memory:', clock })
const { limits } = catraca

const perMinute = (capacity) => ({ perMinute: { capacity, refillPeriodSeconds: 60 } })
await limits.setConfig({ level: 'system', resource: 'api' }, { limits: perMinute(3) })
const tenants = { acme: 'free', globex: 'free', initech: 'pro' }
const PLANS = { free: 4, pro: 6 }
for (const [tenant, plan] of Object.entries(tenants)) {
  const entity = `tenant:${tenant}`
  await limits.setConfig({ level: 'entity', entity, resource: 'api' }, { limits: perMinute(PLANS[plan]) })
}
// Globex bought more. The command line does the same: catraca config set --level entity --identifier tenant:globex …
await limits.setConfig(
  { level: 'entity', entity: 'tenant:globex', resource: 'api' },
  { limits: perMinute(5) },
)
for (const user of ['acme:ann', 'acme:bob', 'globex:cid', 'globex:dee']) {
  await limits.setEntity(user, { parent: `tenant:${user.split(':')[0]}`, cascade: true })
}

const service = withRateLimit(() => new Response('ok'), {
  catraca,
  resource: 'api',
  // From the verified token of the request, in a service.
  entity: (request) => request.headers.get('x-user') ?? 'anonymous',
  denial: (_, { violations }) => ({
    body: { usedUpBy: violations.map(({ entity }) => (entity.startsWith('tenant:') ? 'tenant' : 'user')) },
  }),
})

async function burst(user, times) {
  const told = []
  for (let i = 0; i < times; i++) {
    const request = new Request('http://service.example/', { headers: { 'x-user': user } })
    const response = await service(request)
    told.push(response.ok ? 'ok' : `${response.status} (${(await response.json()).usedUpBy.join()})`)
  }
  console.log(`${user}: ${told.join(' ')}`)
}

await burst('acme:ann', 4)
await burst('acme:bob', 2)
await burst('globex:cid', 3)
await burst('globex:dee', 3)
clock.advance(60_000)
await burst('acme:bob', 1)
await catraca.close()
