/** Random requests around direct calls, half of them checks: mostly right, often a little wrong, now and then hostile. */
export type Random = () => number

export const KEYS = { app: 'ctr_of-an-app', reader: 'ctr_of-a-reader' }
/** Customers whose check takes a while, fails in the store, or fails before it is asked. */
export const SLOW = 'slow'
export const DOWN = 'down'
export const BROKEN = 'broken'

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!
/** The first one mostly. */
const mostly = (random: Random, usual: string, others: readonly string[], share = 0.12): string =>
  random() < share ? pick(random, others) : usual

const CUSTOMERS = ['ana', 'ana', 'zoe', 'Ana', 'a:b@c=d~e_f.g-h', SLOW, DOWN, BROKEN]
const ODD_CUSTOMERS = [
  '',
  '.',
  '..',
  'a b',
  'a+b',
  'a%20b',
  'a%2Fb',
  'a%',
  'a|b',
  'a\tb',
  'a\u00e9',
  'a?b',
  'a#b',
  'a,b',
  'a/check?allowlists=vip',
  'x'.repeat(256),
  'x'.repeat(257),
  '6F9619FF-8B86-D011-B42D-00CF4FC964FF',
]
const LISTS = ['vip', 'wave', 'vip,wave', 'vip,vip', 'wave,nope,vip', 'nope']
const ODD_LISTS = [
  '',
  ',',
  'vip,',
  'a:b',
  'vip wave',
  'vip+wave',
  'vip%2Cwave',
  'vip&allowlists=wave',
  'vip&consistency=strong',
  'vip&consistency=weak',
  'vip&other=1',
  'vip;x',
  'vip#x',
  'vip=x',
  'vip?x',
  Array.from({ length: 101 }, (_, i) => `l${i}`).join(','),
  'constructor',
]
const METHODS = ['HEAD', 'POST', 'OPTIONS', 'get', 'GETS', 'DELETE', 'CONNECT', 'PUT']
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1.1\t', 'HTTP/11', '']
const SPACES = ['  ', '\t', '', '\r\n', ' \t']
const HARMLESS = [
  'User-Agent: curl/8.5.0',
  'Accept: */*',
  'Accept-Encoding: gzip, br',
  'X-Empty:',
  'X-Forwarded-For: 10.0.0.1',
  'Keep-Alive: timeout=5',
  'Origin: https://example.org',
  'If-None-Match: "1"',
  'Range: bytes=0-1',
  'Cookie: a=b; c=d',
  'Connection: keep-alive',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
]
const ODD_HEADERS = [
  'Host: other.example',
  'Host : x',
  'Authorization: Bearer other',
  'x-request-id: second',
  'Connection: close',
  'Connection: keep-alive, close',
  'Connection: Upgrade',
  'Connection:',
  'Connection: foo',
  'Proxy-Connection: close',
  'Proxy-Connection: keep-alive',
  'Upgrade: websocket',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length : 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Expect: 100-continue',
  'Expect: something',
  'TE: trailers',
  'Trailer: X-A',
  ' folded: value',
  '\tfolded: value',
  'X-A: b\nX-C: d',
  'X-A: b\rX-C: d',
  'X-A: \u0000',
  'X-A: \u00e9',
  'X-A: tab\there',
  'X-A: trailing \t',
  'X_A: underscore',
  'X(A: paren',
  ': no name',
  'no colon',
  '',
]
const AUTHORIZATIONS = [
  'Authorization: Bearer ctr_unknown',
  `Authorization: Bearer ${KEYS.reader}`,
  'Authorization: Basic YTpi',
  'Authorization:',
  '',
]
const GOOD_AUTHORIZATIONS = [
  `Authorization: Bearer ${KEYS.app}`,
  `authorization: bearer ${KEYS.app}`,
  `AUTHORIZATION:\t Bearer   ${KEYS.app}  `,
]
const REQUEST_IDS = [
  'x-request-id: mine',
  'X-Request-Id:  padded ',
  'x-request-id: <odd>',
  'x-request-id:',
  '',
]

/** As many headers as fit, so short that Node stops counting them. */
const manyHeaders = (count: number): string[] => new Array<string>(count).fill('a:')

/** Calls of other hot operations, whose answers do not depend on those before. */
const CALLS: readonly [line: string, body?: unknown][] = [
  ['GET /revoked-tokens/gone'],
  ['GET /revoked-tokens/fresh'],
  ['GET /cache/space/known'],
  ['GET /cache/space/missing'],
  ['GET /cache/nope/known'],
  ['PUT /cache/space/other', { value: { many: [1, 2.5, null, 'x'] } }],
  ['POST /check', { customerIds: ['ana', 'zoe'], allowlists: ['vip', 'wave'] }],
  ['POST /check', { customerIds: ['a b'], allowlists: ['vip'] }],
  ['POST /limits/acquire', { entity: 'ana', resource: 'api' }],
  ['POST /limits/acquire', { entity: 'ana', resource: 'api', consume: { rpm: 1_000_001 } }],
  ['POST /limits/acquire', { entity: 'ana', resource: 'nope' }],
  ['POST /leases/none-such/adjust', { delta: { rpm: 1 } }],
  ['DELETE /leases/none-such'],
  ['POST /idempotency/pay/key/complete', { token: 'other', response: 1 }],
  ['POST /locks/free/release', { token: 'other' }],
]
const ODD_CALLS: readonly [line: string, body?: unknown][] = [
  ['GET /revoked-tokens/gone?subject=s'],
  ['GET /revoked-tokens/gone?allowlists=vip'],
  ['GET /revoked-tokens/g%6Fne'],
  ['GET /cache/space/'],
  ['GET /cache//known'],
  ['GET /cache/space/known/more'],
  ['GET /locks/free'],
  ['DELETE /cache/space/missing'],
  ['PUT /cache/space/other', '{"value":'],
  ['PUT /cache/space/other', '{"value":{"__proto__":1}}'],
  ['PUT /cache/space/other', '{"value":{"\\u0063onstructor":1}}'],
  ['PUT /cache/space/other', '{"value":9007199254740993}'],
  ['PUT /cache/space/other', { value: 'x'.repeat(4100) }],
  ['PUT /cache/space/other', '\u00ef\u00bb\u00bf{"value":1}'],
  ['PUT /cache/space/other', '{"value":"\u00e9"}'],
  ['POST /locks/free/release', { token: 'other', more: 1 }],
  ['POST /locks/free/release', { token: 1 }],
  ['POST /locks/free/release', []],
  ['POST /locks/free/release', ''],
  ['POST /locks/free/release', 'null'],
]
const TYPES = [
  'Content-Type: application/json; charset=utf-8',
  'Content-Type: application/json;charset=UTF-8',
  'content-type:APPLICATION/JSON',
  'Content-Type: text/plain',
  'Content-Type: application/json, text/plain',
  'Content-Type: application/json\r\nContent-Type: application/json',
  'Content-Encoding: gzip',
  'Idempotency-Expiry-Seconds: x',
  '',
]

/** One such call as text; each character is a byte. */
function otherCall(random: Random): string {
  const [line, body] = random() < 0.15 ? pick(random, ODD_CALLS) : pick(random, CALLS)
  const lines = headers(random)
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  if (body !== undefined) {
    const type = mostly(random, 'Content-Type: application/json', TYPES, 0.1)
    const length = mostly(random, `Content-Length: ${text.length}`, wrongLengths(text), 0.06)
    lines.push(
      ...shuffled(
        random,
        [type, length].filter((line) => line !== ''),
      ),
    )
  }
  return `${[`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n')}${text}`
}

const wrongLengths = ({ length }: string): string[] => [
  `Content-Length: ${length + 1}`,
  `Content-Length: ${length - 1}`,
  `Content-Length: 0${length}`,
  `Content-Length: +${length}`,
  `Content-Length: ${length}, ${length}`,
  `Content-Length: ${length}\r\nContent-Length: ${length}`,
  '',
]

function target(random: Random): string {
  const customer = random() < 0.12 ? pick(random, ODD_CUSTOMERS) : pick(random, CUSTOMERS)
  const lists = random() < 0.12 ? pick(random, ODD_LISTS) : pick(random, LISTS)
  const path = mostly(random, `/customers/${customer}/check`, ['/live', '/', '*', '/check', '//'], 0.04)
  const query = mostly(random, '?allowlists=', ['', '?', '?lists=', '?ALLOWLISTS=', '/?allowlists='], 0.04)
  return `${path}${query}${lists}`
}

function shuffled<T>(random: Random, items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[items[i], items[j]] = [items[j]!, items[i]!]
  }
  return items
}

function headers(random: Random): string[] {
  const lines = [
    mostly(random, 'Host: catraca.example', ['host:', 'HOST: \t x', '', 'Host: a b'], 0.06),
    random() < 0.1 ? pick(random, AUTHORIZATIONS) : pick(random, GOOD_AUTHORIZATIONS),
    mostly(random, 'x-request-id: mine', REQUEST_IDS, 0.2),
  ].filter((line) => line !== '')
  while (random() < 0.4) lines.push(pick(random, HARMLESS))
  if (random() < 0.15) lines.push(pick(random, ODD_HEADERS))
  if (random() < 0.005) lines.push(`X-Long: ${'x'.repeat(Math.floor(random() * 17_000))}`)
  const ordered = shuffled(random, lines)
  return random() < 0.005 ? [...manyHeaders(pick(random, [90, 120, 1990, 2100, 3900])), ...ordered] : ordered
}

/** One request as text; each character is a byte. */
export function randomRequest(random: Random): string {
  if (random() < 0.5) return otherCall(random)
  const space = () => mostly(random, ' ', SPACES, 0.01)
  const method = mostly(random, 'GET', METHODS, 0.05)
  const line = `${method}${space()}${target(random)}${space()}${mostly(random, 'HTTP/1.1', VERSIONS, 0.04)}`
  const newline = mostly(random, '\r\n', ['\n', '\r', '\r\r\n'], 0.01)
  const text = [line, ...headers(random), '', ''].join(newline)
  if (random() > 0.02) return text
  const at = Math.floor(random() * text.length)
  const byte = String.fromCharCode(Math.floor(random() * 256))
  return pick(random, [
    text.slice(0, at) + byte + text.slice(at + 1),
    text.slice(0, at) + text.slice(at + 1),
    text.slice(0, at) + byte + text.slice(at),
  ])
}
