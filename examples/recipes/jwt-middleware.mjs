// Express with JWTs: the signature is verified with `jose`, then the denylist says whether the token was revoked.
// npm install catraca express jose; node jwt-middleware.mjs
//
// The signature comes first: what an unverified token says of itself is worth nothing. The denylist answers from memory, and
// holds a token only until it would have expired anyway, so short-lived tokens keep it small.
import { once } from 'node:events'
import { openCatraca } from 'catraca'
import { revokedTokens } from 'catraca/express'
import express from 'express'
import { generateKeyPair, jwtVerify, SignJWT } from 'jose'

const catraca = await openCatraca({ store: 'memory:' })
const { tokens } = catraca
// Checks are answered from memory from the first request on.
await tokens.warmUp()

const { publicKey, privateKey } = await generateKeyPair('ES256')
const login = (jti, secondsAgo) =>
  new SignJWT()
    .setProtectedHeader({ alg: 'ES256' })
    .setJti(jti)
    .setSubject('ann')
    .setIssuedAt(Math.floor(Date.now() / 1000) - secondsAgo)
    .setExpirationTime('1h')
    .sign(privateKey)

const app = express()
app.use(async (request, response, next) => {
  try {
    const [, token = ''] = (request.headers.authorization ?? '').split(' ')
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ['ES256'] })
    request.claims = payload
    next()
  } catch {
    response
      .status(401)
      .set('WWW-Authenticate', 'Bearer error="invalid_token"')
      .json({ error: 'not a token of ours' })
  }
})
app.use(revokedTokens({ catraca, claims: (request) => request.claims }))
app.get('/me', (request, response) => response.json({ hello: request.claims.sub }))
app.post('/logout', async (request, response) => {
  const { jti, exp } = request.claims
  await tokens.revoke({ jti, expiresAt: new Date(exp * 1000) })
  response.status(204).end()
})
app.post('/logout-everywhere', async (request, response) => {
  const { sub } = request.claims
  const now = Math.floor(Date.now() / 1000)
  // `iat` counts whole seconds. No token lives for more than an hour.
  const notBefore = new Date(now * 1000)
  await tokens.revokeSubject({ subject: sub, notBefore, expiresAt: new Date((now + 3600) * 1000) })
  response.status(204).end()
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
async function ask(what, token, path = '/me', method = 'GET') {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { method, headers })
  const text = await response.text()
  const { hello, error, code } = text === '' ? {} : JSON.parse(text)
  console.log(`${what}: ${[response.status, hello ?? error ?? code].filter(Boolean).join(' ')}`)
}

const [laptop, phone, tablet] = [await login('t-1', 60), await login('t-2', 60), await login('t-3', 60)]
await ask('signed in', laptop)
await ask('forged', `${laptop.slice(0, -8)}AAAAAAAA`)
await ask('logout of the laptop', laptop, '/logout', 'POST')
await ask('the laptop', laptop)
await ask('the phone', phone)
await ask('logout everywhere', phone, '/logout-everywhere', 'POST')
await ask('the tablet', tablet)
await ask('signed in again', await login('t-4', -1))
server.close()
await catraca.close()
