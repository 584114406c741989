import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError } from '../../../core/errors.js'
import { type ConsoleFiles, choose, readConsole } from '../../console/files.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'

const BUILT = fileURLToPath(new URL('../../../../console/', import.meta.url))

/** Page paths may contain ids with dots, so only these paths are treated as files. */
const FILE_NAME = /^assets\/|^[^/]*\.[^/]*$/

const HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Styles of the component library need the nonce; scripts are loaded only from files. */
function policy(styleNonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styleNonce === undefined ? '' : ` 'nonce-${styleNonce}'`}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

/** Serves the built files of the web console from memory, and its page for every path that is not a file. */
export function consoleRoutes(app: App, { settings }: ServerContext): void {
  const built = readConsole(settings.consoleDir ?? BUILT)
  const options = { config: { scope: 'open' }, exposeHeadRoute: true, schema: { hide: true } } as const
  const summary = 'The web console'
  app.get('/console', { ...options, schema: { ...options.schema, summary } }, (request, reply) =>
    answer(built, '', request, reply),
  )
  app.get('/console/*', options, (request, reply) =>
    answer(built, (request.params as { '*': string })['*'], request, reply),
  )
}

function answer(
  built: ConsoleFiles | undefined,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (built === undefined) {
    throw new CatracaError('ROUTE_NOT_FOUND', 'the web console was not built: run `npm run build`')
  }
  reply.headers({ ...HEADERS, 'content-security-policy': policy() })
  const file = built.files.get(name)
  if (file === undefined) {
    if (FILE_NAME.test(name)) throw new CatracaError('ROUTE_NOT_FOUND', 'the web console has no such file')
    return sendPage(built.page, reply)
  }
  const { body, etag, encoding } = choose(file, request.headers['accept-encoding'])
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'content-type': file.type,
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send()
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  return reply.send(body)
}

/** Proxies that recompress mark an ETag as weak; for `If-None-Match` that makes no difference. */
function isKnown(etag: string, ifNoneMatch = ''): boolean {
  return ifNoneMatch.split(',').some((tag) => [etag, `W/${etag}`, '*'].includes(tag.trim()))
}

function sendPage(page: string, reply: FastifyReply): FastifyReply {
  const styleNonce = randomBytes(18).toString('base64url')
  reply.header('content-type', 'text/html; charset=utf-8')
  reply.header('content-security-policy', policy(styleNonce))
  return reply.send(page.replaceAll('__STYLE_NONCE__', styleNonce))
}
