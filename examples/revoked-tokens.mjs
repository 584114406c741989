// A service that verifies JWTs with `jose` and then asks whether they were revoked: fetch style.
import { openCatraca } from 'catraca'
import { withRevokedTokens } from 'catraca/fetch'
import { generateKeyPair, jwtVerify, SignJWT } from 'jose'

const catraca = await openCatraca({ store: 'memory:' })
const { tokens } = catraca
// From here on checks are answered from memory.
await tokens.warmUp()

const { publicKey, privateKey } = await generateKeyPair('ES256')
const now = Math.floor(Date.now() / 1000)
const login = (jti, sub, iat) =>
  new SignJWT({})
    .setProtectedHeader({ alg: 'ES256' })
    .setJti(jti)
    .setSubject(sub)
    .setIssuedAt(iat)
    .setExpirationTime('1h')
    .sign(privateKey)

// The signature comes first: what an unverified token says of itself is worth nothing.
const verified = new WeakMap()
const greet = withRevokedTokens((request) => new Response(`hello ${verified.get(request).sub}`), {
  catraca,
  claims: (request) => verified.get(request),
})
async function service(request) {
  const [, token] = (request.headers.get('authorization') ?? '').split(' ')
  try {
    const { payload } = await jwtVerify(token, publicKey)
    verified.set(request, payload)
  } catch {
    return new Response('not a token of ours', { status: 401 })
  }
  return greet(request)
}

async function visit(what, token) {
  const request = new Request('http://service.example/', { headers: { authorization: `Bearer ${token}` } })
  const response = await service(request)
  const body = await response.text()
  console.log(
    `${what}: ${response.status} ${response.ok ? body : body.startsWith('{') ? JSON.parse(body).code : body}`,
  )
}

const laptop = await login('session-1', 'ann', now - 60)
const phone = await login('session-2', 'ann', now - 60)
await visit('logged in', laptop)
await visit('forged', `${laptop.slice(0, -8)}AAAAAAAA`)

// Logged out on the laptop: that token alone, until it would have expired anyway.
const { payload } = await jwtVerify(laptop, publicKey)
await tokens.revoke({ jti: payload.jti, expiresAt: new Date(payload.exp * 1000) })
await visit('the laptop, logged out', laptop)
await visit('the phone', phone)

// A new password: everything that was issued before.
await tokens.revokeSubject({
  subject: 'ann',
  notBefore: new Date(now * 1000),
  expiresAt: new Date((now + 3600) * 1000),
})
await visit('the phone, after a new password', phone)
await visit('logged in again', await login('session-3', 'ann', now))
console.log(
  `answered without asking the store: ${tokens.stats().fromMemory} of ${tokens.stats().fromMemory + tokens.stats().fromStore}`,
)
await catraca.close()
