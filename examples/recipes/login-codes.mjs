// Sign-in with a code by e-mail: sending is limited, guessing is limited, and a code works once.
//
// `issue` limits how often an address gets a code, and `verify` how often one guesses for an address. Both count by address,
// so also count by client: a client that tries many addresses meets only this limit.
import { manualClock, openCatraca } from 'catraca'
import { withRateLimit } from 'catraca/fetch'

// Programs leave the clock out. Here it is moved by hand, so that nobody has to wait.
const clock = manualClock('2030-01-01T12:00:00Z')
// Over Redis or DynamoDB set a pepper too (CATRACA_OTP_PEPPER on a server): codes are stored as keyed hashes.
const catraca = await openCatraca({ store: 'memory:', clock })
const { codes } = catraca
const mailbox = new Map()

async function handler(request) {
  const { pathname } = new URL(request.url)
  const { email, code } = await request.json()
  const address = { channel: 'email', address: email, purpose: 'sign-in' }
  if (pathname === '/code') {
    const issued = await codes.issue(address)
    if (issued.issued) mailbox.set(email, issued.code)
    // The same answer whether the address is known or not, and whether a code was sent or not.
    return Response.json({ sent: 'if we know you, a code is on its way' }, { status: 202 })
  }
  const { valid, reason } = await codes.verify({ ...address, code })
  return Response.json(valid ? { session: 's-1' } : { error: reason }, { status: valid ? 200 : 401 })
}

const service = withRateLimit(handler, {
  catraca,
  resource: 'sign-in',
  limits: { failures: { capacity: 15, refillPeriodSeconds: 900, algorithm: 'sliding-window' } },
  // In a service: `forwardedFor({ proxies: 1 })`, or what the platform says of the client.
  clientAddress: (request) => request.headers.get('x-client'),
  // Whoever signs in is not counted.
  countIf: (_, { status }) => status === 401,
})

async function ask(path, body, client = '203.0.113.7') {
  const headers = { 'x-client': client }
  const request = new Request(`http://service.example${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const response = await service(request)
  const answer = await response.json()
  return `${response.status} ${answer.session ?? answer.error ?? answer.sent ?? answer.code}`
}

const email = 'ann@example.com'
console.log(`asked for a code: ${await ask('/code', { email })}`)
const code = mailbox.get(email)
console.log(
  `asked again at once: ${await ask('/code', { email })}, the same code: ${mailbox.get(email) === code}`,
)
console.log(`signed in: ${await ask('/session', { email, code })}`)
console.log(`a second time: ${await ask('/session', { email, code })}`)

clock.advance(3_600_000)
await ask('/code', { email })
const guesses = []
for (let i = 0; i < 12; i++) guesses.push(await ask('/session', { email, code: '000000' }, `198.51.100.${i}`))
console.log(`guesses from many clients: ${[...new Set(guesses)].join(', then ')}`)

const tried = []
for (let i = 0; i < 16; i++)
  tried.push(await ask('/session', { email: `user-${i}@example.com`, code: '000000' }))
console.log(`one client, many addresses: ${[...new Set(tried)].join(', then ')}`)
await catraca.close()
