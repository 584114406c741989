import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { version } from '../../../core/version.js'
import type { App } from '../../http/instance.js'
import { forGenerators } from '../../http/openapi.js'

/** The page is self-contained: it may load nothing from another host, and send nothing there. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The script of the page contains one style sheet, allowed by its hash, and sets some positions by style
  // attributes.
  "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Hides the bar that loads documents from other hosts, which the policy forbids anyway. */
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
        license: { name: 'MIT', identifier: 'MIT' },
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
    // Without this the page calls an external host to validate the document.
    uiConfig: { validatorUrl: null as never, docExpansion: 'list', tryItOutEnabled: true },
    theme: { title: 'Catraca API', css: [{ filename: 'catraca.css', content: STYLE }] },
  })
  // Written once: anybody may ask for it, as often as they like.
  let document: Buffer | undefined
  app.get('/openapi.json', { config: { scope: 'open' }, schema: { hide: true } }, (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(forGenerators(app.swagger())))
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
    // A stream body has no schema for validation, but the document needs one.
    ...(schema?.consumes === undefined ? {} : { body: { type: 'string', format: 'binary' } }),
  }
}
