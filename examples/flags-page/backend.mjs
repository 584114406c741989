// @ts-check
// A page with feature flags, and its backend, which holds the API key. Run: node examples/flags-page/backend.mjs
// It starts a Catraca of its own, where CATRACA_URL names none.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const PAGE = `<!doctype html>
<html lang="en">
  <title>Flags</title>
  <p id="checkout"></p>
  <form id="sign-in"><label>Customer <input name="customer"></label> <button>Sign in</button></form>
  <script type="module" src="/page.js"></script>
</html>`

const bundle = await build({
  entryPoints: [fileURLToPath(new URL('page.js', import.meta.url))],
  bundle: true,
  format: 'esm',
  platform: 'browser',
  write: false,
})
const script = /** @type {{ text: string }} */ (bundle.outputFiles[0]).text

const key = process.env.CATRACA_KEY
const catraca = process.env.CATRACA_URL ?? (await ownCatraca())

/** Who is signed in. A real backend has a session for each browser. */
let customer = 'ana'

/** @type {Record<string, (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => unknown>} */
const ROUTES = {
  'GET /': (_, response) => response.setHeader('content-type', 'text/html').end(PAGE),
  'GET /page.js': (_, response) => response.setHeader('content-type', 'text/javascript').end(script),
  async 'POST /session'(request, response) {
    customer = await text(request)
    response.writeHead(204).end()
  },
  async 'POST /ofrep/v1/evaluate/flags'(request, response) {
    const body = JSON.parse(await text(request))
    const context = { ...body.context, targetingKey: customer }
    await passOn(response, '/ofrep/v1/evaluate/flags', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...etagOf(request) },
      body: JSON.stringify({ context }),
    })
  },
  async 'GET /ofrep/v1/events'(_, response) {
    const away = new AbortController()
    response.on('close', () => away.abort())
    const query = new URLSearchParams({ targetingKey: customer })
    await passOn(response, `/ofrep/v1/events?${query}`, { signal: away.signal })
  },
}

/** @param {import('node:http').IncomingMessage} request */
function etagOf({ headers }) {
  const etag = headers['if-none-match']
  return etag === undefined ? {} : { 'if-none-match': etag }
}

/**
 * Calls Catraca with the key, and hands its answer on as it comes.
 * @param {import('node:http').ServerResponse} response
 * @param {string} path
 * @param {RequestInit} options
 */
async function passOn(response, path, { headers, ...options }) {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(`${catraca}${path}`, { ...options, headers: { ...headers, ...authorization } })
  for (const name of ['content-type', 'etag']) {
    const value = answer.headers.get(name)
    if (value !== null) response.setHeader(name, value)
  }
  response.writeHead(answer.status)
  if (answer.body === null) response.end()
  else await pipeline(Readable.fromWeb(/** @type {any} */ (answer.body)), response)
}

const server = createServer((request, response) => {
  const path = (request.url ?? '/').split('?')[0]
  const route = ROUTES[`${request.method} ${path}`]
  if (route === undefined) return response.writeHead(404).end()
  // A browser that goes away ends its event stream.
  Promise.resolve(route(request, response)).catch(() => response.destroy())
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`open http://127.0.0.1:${port}`)
})

async function ownCatraca() {
  const { openCatraca } = await import('catraca')
  const { createLogger, startServer } = await import('catraca/server')
  const instance = await openCatraca({ store: 'memory:' })
  const config = /** @type {const} */ ({ strategy: 'EXPLICIT_LIST', customerIds: ['ana'] })
  await instance.allowlists.create({ id: 'new-checkout', name: 'New checkout', type: 'ONDA', config })
  const flags = { exposed: ['new-*'] }
  const started = await startServer(instance, { port: 0, logger: createLogger('silent'), flags })
  return started.url
}
