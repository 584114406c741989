// @ts-check
// The HTTP service inside a program, and a caller of it. Run: node examples/http-service.mjs
import { openCatraca } from 'catraca'
import { createLogger, startServer } from 'catraca/server'

const catraca = await openCatraca({ store: 'memory:' })
const server = await startServer(catraca, { port: 0, logger: createLogger('silent') })

/**
 * @param {string} method
 * @param {string} path
 * @param {{ body?: object, key?: string }} [options]
 */
async function call(method, path, { body, key } = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { authorization: `Bearer ${key}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  /** @type {any} */
  const answer = await response.json()
  return { status: response.status, answer }
}

const created = await call('POST', '/allowlists', { body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
console.log(`create: ${created.status}, version ${created.answer.version}`)

const added = await call('PUT', '/allowlists/vip/customers/alice', { body: { addedBy: 'sales' } })
console.log(`add: ${added.status}, ${added.answer.customerCount} customer`)

// The token of a write makes a check see that write, whichever process answers it.
const checkPath = `/customers/alice/check?allowlists=vip&atLeast=${added.answer.token}`
const checked = await call('GET', checkPath)
console.log(`check: ${checked.status}, ${checked.answer.results[0].reason}`)

// The first key locks the server.
const { key } = (await call('POST', '/keys', { body: { name: 'shop', scopes: ['check'] } })).answer
const refused = await call('GET', checkPath)
console.log(`without key: ${refused.status} ${refused.answer.code}`)
console.log(`with key: ${(await call('GET', checkPath, { key })).status}`)
console.log(`other scope: ${(await call('GET', '/allowlists', { key })).answer.code}`)

await server.stop()
await catraca.close()
