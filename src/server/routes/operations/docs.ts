import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { version } from '../../../core/version.js'
import type { App } from '../../http/context.js'

/** The page brings all it needs; nothing may come from, or go to, another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The page has one style sheet inside its script, named by its hash, and positions some parts by attributes.
  "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The bar offers to load documents from elsewhere, which the policy forbids anyway. */
const STYLE = '.swagger-ui .topbar { display: none }'

/** Must be registered before the routes that it describes. */
export async function documentRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Catraca',
        version,
        description: 'Request-time guards for backend services.',
      },
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
      security: [{ apiKey: [] }, {}],
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transform: ({ schema, url, route }) => ({ schema: describe(schema, route.config), url }),
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_SECURITY_POLICY,
    // Without this the page asks an external host to validate the document.
    uiConfig: { validatorUrl: null as never, docExpansion: 'list', tryItOutEnabled: true },
    theme: { title: 'Catraca API', css: [{ filename: 'catraca.css', content: STYLE }] },
  })
  // Written once: anybody may ask for it, as often as they like.
  let document: Buffer | undefined
  app.get('/openapi.json', { config: { scope: 'open' }, schema: { hide: true } }, (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(document)
  })
}

function describe(schema: FastifySchema, config: FastifyContextConfig | undefined): FastifySchema {
  const { scope, orAdmin = false } = config ?? {}
  const isOpen = scope === undefined || scope === 'open'
  const needs =
    scope === 'any' ? 'Needs any API key.' : `Needs the scope \`${scope}\`${orAdmin ? ' or `admin`' : ''}.`
  return {
    ...schema,
    description: isOpen ? 'Open to all.' : needs,
    ...(isOpen ? { security: [] } : {}),
    // A body that is a stream has no schema to be validated by; in the document it must have one.
    ...(schema?.consumes === undefined ? {} : { body: { type: 'string', format: 'binary' } }),
  }
}
