// One-time codes: issued for the caller to send, verified once, limited and locked.
import { ManualClock, openCatraca } from 'catraca'

const clock = new ManualClock(Date.UTC(2030, 0, 1))
const catraca = await openCatraca({ store: 'memory:', clock })
const { codes } = catraca
const ann = { channel: 'email', address: 'Ann@Example.com', purpose: 'login' }

const issued = await codes.issue(ann)
console.log(`send ${issued.code.length} digits, good until ${issued.expiresAt}`)

const again = await codes.issue(ann)
console.log(`asked again at once: ${again.issued}, come back in ${again.retryAfterMs} ms`)

const verify = async (code) => JSON.stringify(await codes.verify({ ...ann, code }))
console.log(`typed right: ${await verify(issued.code)}`)
console.log(`a second time: ${await verify(issued.code)}`)

// Failures count over all codes of an address and purpose, whatever is sent meanwhile.
clock.advance(60_000)
const renewed = await codes.issue(ann)
for (let i = 0; i < 10; i++) await verify('not the code')
console.log(`after ten failures, also the right one: ${await verify(renewed.code)}`)
await catraca.close()
