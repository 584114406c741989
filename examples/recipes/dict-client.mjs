// A client of DICT: look-ups from the cache, within the limits of the participant, and entries that are created once.
//
// The cache comes before the limit: what is cached costs nothing of the quota. Misses ask the limit, and many callers that
// miss the same key share one look-up.
import { manualClock, openCatraca, quotaExceeded } from 'catraca'
import { DICT_IDEMPOTENCY, DICT_LIMITS, dictCache, pixKey } from 'catraca/dict'

const ISPB = '12345678'
// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait.
const clock = manualClock('2030-01-01T12:00:00Z')
const catraca = await openCatraca({ store: 'memory:', clock, idempotency: DICT_IDEMPOTENCY })
const dict = dictCache(catraca.cache, { staleMs: 60_000 })
for (const operation of ['CreateEntry', 'GetEntry']) {
  await catraca.limits.setConfig({ level: 'system', resource: operation }, DICT_LIMITS[operation])
}
// Fewer than the documents allow, so that this program is short.
await catraca.limits.setConfig(
  { level: 'entity', entity: ISPB, resource: 'GetEntry' },
  { limits: { perMinute: { capacity: 2, refillAmount: 2 } } },
)

/** Stands for the Bridge to DICT. */
const bridge = {
  calls: 0,
  isDown: false,
  entries: new Map(),
  find(key) {
    this.calls++
    if (this.isDown) throw new Error('the Bridge is down')
    return this.entries.get(key.key_value)
  },
}

async function within(operation, work) {
  const answer = await catraca.limits.acquire({ entity: ISPB, resource: operation })
  if (!answer.allowed) throw quotaExceeded(answer)
  return work()
}

const lookUp = (key) =>
  dict.entries.byKey(pixKey(key), (asked) => within('GetEntry', async () => bridge.find(asked)))

async function create(requestId, entry) {
  const request = { operation: 'CreateEntry', key: requestId, payload: entry }
  const result = await catraca.idempotency.run(request, () =>
    within('CreateEntry', async () => {
      await dict.entries.save(entry, async () => bridge.entries.set(entry.key_value, entry))
      return { id: entry.id }
    }),
  )
  return result.outcome
}

const told = (call) =>
  call.then(
    (entry) => entry?.id ?? 'none',
    (error) => error.code ?? error.message,
  )
const email = pixKey({ key_type: 'EMAIL', key_value: 'Ann@Example.com' })
const entry = { ...email, id: 'e-1', account_ispb: ISPB }
console.log(`created: ${await create('request-1', entry)}, again: ${await create('request-1', entry)}`)
console.log(`found: ${await told(lookUp(email))}, calls of the Bridge: ${bridge.calls}`)

clock.advance(6 * 60_000)
const crowd = await Promise.all(Array.from({ length: 50 }, () => told(lookUp(email))))
console.log(
  `50 at once, after it expired: ${new Set(crowd).size} answer, calls of the Bridge: ${bridge.calls}`,
)

const other = { key_type: 'EMAIL', key_value: 'bob@example.com' }
console.log(`nobody has that key: ${await told(lookUp(other))}`)
console.log(
  `a third look-up in this minute: ${await told(lookUp({ ...other, key_value: 'eve@example.com' }))}`,
)

clock.advance(5 * 60_000 + 1000)
bridge.isDown = true
console.log(`the Bridge is down: ${await told(lookUp(email))}, as it was a while ago`)
await catraca.close()
