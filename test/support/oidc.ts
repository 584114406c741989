import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { OpenOptions } from '../../src/app/open-catraca.js'
import type { RoleOptions, SignInOptions } from '../../src/guards/access/sign-in-options.js'
import type { ServerOptions } from '../../src/server/index.js'
import { type ClosingServer, openServer } from '../server/support.js'

/*
 * A real provider (`oidc-provider`) on loopback, servers that trust it behind one address, and browsers that follow its
 * redirects with cookies of their own.
 */

export const CLIENT = { id: 'catraca', secret: 'a secret of the client' }

/** Somebody whom the provider knows. */
interface Account {
  /** Usually names. */
  groups?: unknown
  email?: string
  /** Usually a boolean. */
  email_verified?: unknown
}

interface TestProvider {
  readonly issuer: string
  /** By subject. Somebody who is deleted is removed at the provider. */
  readonly people: Map<string, Account>
  /** Life of access tokens. */
  accessTokenSeconds: number
  /** Changes the ID token before it is signed; with other keys if it returns some, or replaces it. */
  forge: ((claims: JWTPayload) => { key?: JWK; token?: string } | undefined) | undefined
  /** Whether its userinfo endpoint refuses every token, without saying by a header why. */
  refusesTokens: boolean
  givesRefreshTokens: boolean
  /** Whether it answers at all. */
  isAway: boolean
  /** Requests to its token endpoint. */
  tokenRequests: number
  /** Signs with new keys from now on. */
  rotateKeys(): Promise<void>
  close(): Promise<void>
}

export async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return {
    ...(await exportJWK(privateKey)),
    use: 'sig',
    alg: 'ES256',
    kid: Math.random().toString(36).slice(2),
  }
}

/** `baseUrl`: of the servers that trust it. */
export async function startProvider(baseUrl: string): Promise<TestProvider> {
  const server = createHttpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Another site than that of the servers, as cookies see it.
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  let key = await newKey()
  const stored: Stored = new Map()
  // biome-ignore lint/suspicious/noExplicitAny: the package has no types.
  let provider: any
  const state: TestProvider = {
    issuer,
    people: new Map(),
    accessTokenSeconds: 3600,
    forge: undefined,
    refusesTokens: false,
    givesRefreshTokens: true,
    isAway: false,
    tokenRequests: 0,
    async rotateKeys() {
      key = await newKey()
      provider = await newProvider(state, key, baseUrl, stored)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  provider = await newProvider(state, key, baseUrl, stored)
  server.on('request', (request, response) => {
    if (state.isAway) return void response.writeHead(503).end()
    if (request.url === '/token') state.tokenRequests++
    if (request.url === '/me' && state.refusesTokens) return void response.writeHead(401).end()
    if (request.url?.startsWith('/interaction/')) return interact(provider, request, response)
    return provider.callback()(request, response)
  })
  return state
}

type Stored = Map<string, Record<string, unknown>>

/** Where the provider keeps its own things, also when its keys change. */
const adapterOver = (stored: Stored) =>
  class {
    constructor(private readonly model: string) {}

    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      stored.set(`${this.model}:${id}`, payload)
    }

    async find(id: string): Promise<Record<string, unknown> | undefined> {
      return stored.get(`${this.model}:${id}`)
    }

    async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
      return [...stored].find(([key, one]) => key.startsWith(`${this.model}:`) && one.uid === uid)?.[1]
    }

    async consume(id: string): Promise<void> {
      stored.get(`${this.model}:${id}`)!.consumed = Math.floor(Date.now() / 1000)
    }

    async destroy(id: string): Promise<void> {
      stored.delete(`${this.model}:${id}`)
    }

    /** Of this kind only: an interaction that has begun also names the grant, and outlives it. */
    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, one] of stored) {
        if (key.startsWith(`${this.model}:`) && one.grantId === grantId) stored.delete(key)
      }
    }
  }

async function newProvider(state: TestProvider, key: JWK, baseUrl: string, stored: Stored) {
  const { default: Provider } = await import('oidc-provider' as string)
  const claimsOf = (sub: string) => ({ sub, ...state.people.get(sub) })
  const provider = new Provider(state.issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        id_token_signed_response_alg: 'ES256',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [`${baseUrl}/sign-in/callback`],
        post_logout_redirect_uris: [`${baseUrl}/console`],
      },
    ],
    adapter: adapterOver(stored),
    jwks: { keys: [key] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    cookies: { keys: ['a key for cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => state.givesRefreshTokens,
    rotateRefreshToken: true,
    ttl: { AccessToken: () => state.accessTokenSeconds, Grant: 86_400, Session: 86_400, Interaction: 600 },
    findAccount: (_: unknown, sub: string) =>
      state.people.has(sub) ? { accountId: sub, claims: () => claimsOf(sub) } : undefined,
    // biome-ignore lint/suspicious/noExplicitAny: as above
    async loadExistingGrant({ oidc }: any) {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile offline_access')
      await grant.save()
      return grant
    },
  })
  // biome-ignore lint/suspicious/noExplicitAny: as above
  provider.use(async (context: any, next: () => Promise<void>) => {
    await next()
    const token = context.body?.id_token
    if (token !== undefined && state.forge !== undefined)
      context.body.id_token = await forged(token, key, state)
  })
  return provider
}

async function forged(token: string, key: JWK, { forge }: TestProvider): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JWTPayload
  const { key: used = key, token: made } = forge!(claims) ?? {}
  if (made !== undefined) return made
  const header = { alg: 'ES256', kid: key.kid! }
  return new SignJWT(claims).setProtectedHeader(header).sign(await importJWK(used, 'ES256'))
}

/** The page of the provider: whoever sends a name is that person. */
// biome-ignore lint/suspicious/noExplicitAny: as above
async function interact(provider: any, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html')
    response.end(
      `<!doctype html><title>Provider</title><h1>Provider</h1><form method=post><label>Name <input name=name></label><button>Go on</button></form>`,
    )
    return
  }
  const accountId = new URLSearchParams(await text(request)).get('name')
  const result = accountId === '' ? { error: 'access_denied' } : { login: { accountId } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

export const ROLES: RoleOptions[] = [
  { name: 'platform', groups: ['platform'], scopes: ['admin'] },
  {
    name: 'team-a',
    groups: ['team-a'],
    scopes: ['admin', 'limits'],
    lists: ['team-a-*'],
    resources: ['team-a-*'],
  },
  { name: 'reader-b', groups: ['team-a-and-b'], scopes: ['read'], lists: ['team-b-*'] },
]

export interface SignInScene {
  readonly baseUrl: string
  readonly provider: TestProvider
  /** They share the address: each connection goes to the next. */
  readonly servers: readonly ClosingServer[]
  browser(): TestBrowser
}

interface SceneOptions {
  signIn?: Partial<SignInOptions>
  server?: ServerOptions
  open?: OpenOptions
  /** How many servers; with several, `open` names a store that they share. */
  servers?: number
}

export async function signInScene(t: TestContext, options: SceneOptions = {}): Promise<SignInScene> {
  const scene = await openSignInScene(options)
  t.after(scene.close)
  return scene
}

/** For several tests: to begin one takes longer than most of them. */
export async function openSignInScene(
  options: SceneOptions = {},
): Promise<SignInScene & { close(): Promise<void> }> {
  const servers: ClosingServer[] = []
  const sockets = new Set<Socket>()
  let next = 0
  const door = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    servers[next++ % servers.length]!.take(socket)
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  const { port } = door.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}`
  const provider = await startProvider(baseUrl)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    door.close()
    for (const server of servers) await server.close()
    await provider.close()
  }
  for (let i = 0; i < (options.servers ?? 1); i++) {
    const signIn = signInOptions(provider, baseUrl, options.signIn)
    const listening = { host: '127.0.0.1', port, listens: false }
    servers.push(await openServer({ ...listening, signIn, ...options.server }, options.open ?? {}))
  }
  return { baseUrl, provider, servers, browser: () => new TestBrowser(baseUrl), close }
}

export function signInOptions(
  { issuer }: TestProvider,
  baseUrl: string,
  more: Partial<SignInOptions> = {},
): SignInOptions {
  return {
    ...{ issuer, baseUrl, clientId: CLIENT.id, clientSecret: () => CLIENT.secret, roles: ROLES },
    secret: () => 'a secret of at least 32 characters, for tests',
    ...more,
  }
}

interface TestAnswer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  json: any
}

/** Follows redirects as a browser does, with cookies for each origin. */
export class TestBrowser {
  readonly cookies = new Map<string, Map<string, string>>()

  constructor(private readonly baseUrl: string) {}

  /** One request. */
  async send(url: string | URL, init: RequestInit = {}): Promise<TestAnswer> {
    const to = new URL(url, this.baseUrl)
    const jar = this.jar(to.origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string>) }
    const answer = await fetch(to, { redirect: 'manual', ...init, headers })
    for (const line of answer.headers.getSetCookie()) keepCookie(jar, line)
    const body = await answer.text()
    return { status: answer.status, headers: answer.headers, text: body, json: parse(body) }
  }

  /** A call of the API as a page of the server makes it. */
  call(method: string, path: string, body?: unknown): Promise<TestAnswer> {
    const headers = {
      'sec-fetch-site': 'same-origin',
      ...(method !== 'GET' && { origin: this.baseUrl }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return this.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  /** Begins to sign in as this person, up to the address with the code, which is not yet opened. */
  async codeFor(name: string, returnTo = '/console/'): Promise<URL> {
    let at = new URL(`/sign-in?returnTo=${encodeURIComponent(returnTo)}`, this.baseUrl)
    let init: RequestInit = {}
    for (let steps = 0; steps < 12; steps++) {
      const answer = await this.send(at, init)
      init = {}
      const location = answer.headers.get('location')
      if (location !== null) at = new URL(location, at)
      else if (at.pathname.startsWith('/interaction/')) {
        init = { method: 'POST', body: new URLSearchParams({ name }) }
      } else throw new Error(`${at} answered ${answer.status}: ${answer.text}`)
      if (at.origin === this.baseUrl && at.pathname === '/sign-in/callback') return at
      if (at.origin === this.baseUrl) throw new Error(`back at ${at} without a code`)
    }
    throw new Error('the provider leads nowhere')
  }

  /** Signs in as this person; returns where the browser is led. */
  async signIn(name: string, returnTo?: string): Promise<string> {
    const answer = await this.send(await this.codeFor(name, returnTo))
    return answer.headers.get('location') ?? `${answer.status} ${answer.text}`
  }

  /** What the server has set here. */
  own(): Map<string, string> {
    return this.jar(new URL(this.baseUrl).origin)
  }

  private jar(origin: string): Map<string, string> {
    let jar = this.cookies.get(origin)
    if (jar === undefined) this.cookies.set(origin, (jar = new Map()))
    return jar
  }
}

function keepCookie(jar: Map<string, string>, line: string): void {
  const [pair, ...attributes] = line.split(';')
  const at = pair!.indexOf('=')
  const name = pair!.slice(0, at)
  const ends = attributes.some((one) => /^\s*max-age=0$/i.test(one) || /expires=thu, 01 jan 1970/i.test(one))
  if (ends) jar.delete(name)
  else jar.set(name, pair!.slice(at + 1))
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
