import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CatracaError } from '../../../core/errors.js'
import type { Principal } from '../../../guards/access/index.js'
import { personKey, type Session, type Sessions } from '../../../guards/access/sessions/index.js'
import type { SignInOptions } from '../../../guards/access/sign-in-options.js'
import { Attempts } from './attempts.js'
import { readCookie, setCookie } from './cookies.js'
import { isFromElsewhere } from './origin.js'
import { openPending, sealPending, type Token } from './pending.js'
import { People } from './people.js'
import { type Confirmed, Provider, type Tokens } from './provider.js'
import { dueAfter, isDue, Renewals, sealTokens } from './renewals.js'
import { Seal } from './seal.js'
import { type SignInSettings, signInSettings } from './settings.js'

/** Why a sign-in ended without a session, for the page that shows it. */
export type SignInFailure = 'denied' | 'no-role' | 'expired' | 'failed' | 'away' | 'busy'

type Report = (message: string, error: unknown) => void

const SECRET_BYTES = 32
const ABOUT_CURSORS = 'pages'
/** person, secret, signature */
const TOKEN = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/
/** A use is written down at most this often. */
const TOUCH_MS = 60_000

/** People who signed in with a provider: how they come in, who they are at each request, and how they leave. */
export class SignIn {
  readonly settings: SignInSettings
  private readonly seal: Seal
  private readonly people: People
  private readonly renewals: Renewals
  private readonly attempts = new Attempts()

  private constructor(
    settings: SignInSettings,
    private readonly provider: Provider,
    private readonly sessions: Sessions,
    private readonly report: Report,
  ) {
    this.settings = settings
    // A session with one provider says nothing to a server that trusts another one.
    this.seal = new Seal(settings.secret, [settings.issuer, settings.clientId])
    this.people = new People(settings)
    const { seal, people } = this
    this.renewals = new Renewals({ sessions, provider, people, seal, settings, report })
  }

  static async open(options: SignInOptions, sessions: Sessions | undefined, report: Report): Promise<SignIn> {
    if (sessions === undefined) {
      throw new CatracaError(
        'STORE_UNSUPPORTED',
        'the engine of this store keeps no sessions, which sign-in needs',
      )
    }
    const settings = signInSettings(options)
    return new SignIn(settings, await Provider.open(settings), sessions, report)
  }

  /** Whether the request comes with a session, and with no API key, which would win. */
  hasSession(request: IncomingMessage): boolean {
    return request.headers.authorization === undefined && this.cookie(request) !== undefined
  }

  /** Who sends the request, or why nobody may by this session. */
  async visitor(request: IncomingMessage): Promise<Principal | CatracaError> {
    if (isFromElsewhere(request, this.settings.baseUrl)) return foreign()
    const token = this.token(request)
    const session = token && (await this.current(token))
    if (session === undefined) return ended()
    const { providerAwayMs } = this.settings
    if (this.sessions.now() >= session.dueAt + providerAwayMs) return providerAway()
    return this.people.principal(session) ?? ended()
  }

  /** Where the browser goes, and the cookie by which it is known when it comes back. */
  async begin(request: IncomingMessage, returnTo: string): Promise<{ location: string; cookie: string }> {
    const { url, expected } = await this.provider.begin()
    const before = this.token(request)
    const pending = { ...expected, returnTo, ...(before && { before }) }
    const sealed = sealPending(this.seal, pending, this.sessions.now())
    return { location: url.href, cookie: setCookie('pending', sealed, this.settings.isSecure) }
  }

  /** The session of somebody who came back from the provider, or why there is none. */
  async finish(
    request: IncomingMessage,
    query: string,
  ): Promise<{ cookie: string; returnTo: string } | SignInFailure> {
    const sealed = readCookie(request, 'pending', this.settings.isSecure)
    const pending = sealed === undefined ? undefined : openPending(this.seal, sealed, this.sessions.now())
    // Whoever has no sign-in of this browser makes no work.
    if (pending === undefined || new URLSearchParams(query).get('state') !== pending.state) return 'expired'
    let confirmed: Confirmed
    try {
      const address = request.socket.remoteAddress ?? ''
      confirmed = await this.attempts.run(address, () => this.provider.exchange(query, pending))
    } catch (error) {
      return this.failure(error)
    }
    const person = this.people.person(confirmed.subject, confirmed.claims)
    if (person.roles.length === 0) {
      this.report('a person without a role tried to sign in', undefined)
      return 'no-role'
    }
    try {
      // A session that this browser had must not live on beside the new one. Its cookie does not come with a redirect
      // from the provider's page, so the pending sign-in says which it was.
      await this.end(this.token(request) ?? pending.before)
      return { cookie: await this.open(confirmed), returnTo: pending.returnTo }
    } catch (error) {
      this.report('a session could not be stored', error)
      return 'failed'
    }
  }

  /** Ends the session here and, if it offers that, at the provider, where the browser is to go then. */
  async signOut(request: IncomingMessage): Promise<{ cookie: string; location?: string }> {
    if (isFromElsewhere(request, this.settings.baseUrl)) throw foreign()
    const cookie = setCookie('session', '', this.settings.isSecure)
    const tokens = await this.end(this.token(request))
    if (tokens === undefined) return { cookie }
    // The session has ended here already, whatever the provider does.
    const tell = (error: unknown) => this.report('the provider was not told of a sign-out', error)
    void this.provider.revoke(tokens).catch(tell)
    const location = await this.provider.endUrl(tokens).catch(tell)
    return { cookie, ...(location !== undefined && location !== null && { location }) }
  }

  /** Where a page ended that left things out: the place may be the name of something that the person may not see. */
  sealCursor(place: string): string {
    return this.seal.seal('cursor', ABOUT_CURSORS, place)
  }

  openCursor(sealed: string): string | undefined {
    return this.seal.open('cursor', ABOUT_CURSORS, sealed)
  }

  private cookie(request: IncomingMessage): string | undefined {
    return readCookie(request, 'session', this.settings.isSecure)
  }

  /** Only what was signed here is looked up: strangers cannot make the store work. */
  private token(request: IncomingMessage): Token | undefined {
    const [, person, secret, signature] = TOKEN.exec(this.cookie(request) ?? '') ?? []
    if (person === undefined || !this.seal.isSigned('session', `${person}.${secret}`, signature!))
      return undefined
    return { person, id: hashOf(secret!) }
  }

  private async current({ person, id }: Token): Promise<Session | undefined> {
    const { sessions, settings } = this
    const now = sessions.now()
    const session = await sessions.find(person, id)
    if (session === undefined) return undefined
    if (now - session.usedAt >= settings.idleMs) {
      await sessions.end(person, (one) => one.id === id)
      return undefined
    }
    if (isDue(session, now)) {
      const renewed = await this.renewals.renewed(person, session)
      return renewed === 'ended' ? undefined : renewed
    }
    const isFresh = ({ usedAt }: Session) => now - usedAt < Math.min(TOUCH_MS, settings.idleMs / 4)
    if (isFresh(session)) return session
    return sessions.update(person, id, (one) => {
      // Another request of the same moment has written it down.
      if (isFresh(one)) return { result: one }
      const next = { ...one, usedAt: now }
      return { next, result: next }
    })
  }

  /** Always under a new secret: what a browser had before the sign-in is worth nothing after it. */
  private async open(confirmed: Confirmed): Promise<string> {
    const { sessions, settings, seal } = this
    const now = sessions.now()
    const person = personKey(settings.issuer, confirmed.subject)
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const id = hashOf(secret)
    const session: Session = {
      ...{ id, ...this.people.person(confirmed.subject, confirmed.claims) },
      ...{ createdAt: now, usedAt: now, endsAt: now + settings.sessionMs },
      dueAt: dueAfter(confirmed, settings, now),
      sealed: sealTokens(seal, id, confirmed.tokens),
    }
    await sessions.open(person, session, settings.sessionsPerPerson)
    const signed = `${person}.${secret}`
    return setCookie('session', `${signed}.${seal.sign('session', signed)}`, settings.isSecure)
  }

  /** The tokens of the session that ended; undefined when there was none. */
  private async end(token: Token | undefined): Promise<Tokens | undefined> {
    if (token === undefined) return undefined
    const [session] = await this.sessions.end(token.person, ({ id }) => id === token.id)
    if (session === undefined) return undefined
    const opened = session.sealed && this.seal.open('tokens', session.id, session.sealed)
    return opened ? (JSON.parse(opened) as Tokens) : {}
  }

  private failure(error: unknown): SignInFailure {
    if (error instanceof CatracaError && error.code === 'OVERLOADED') return 'busy'
    const { name, error: told } = error as { name?: string; error?: string }
    if (name === 'AuthorizationResponseError' && told === 'access_denied') return 'denied'
    this.report('a sign-in failed', error)
    return 'failed'
  }
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')

const ended = () => new CatracaError('UNAUTHENTICATED', 'the session has ended: sign in again')

const foreign = () =>
  new CatracaError('FORBIDDEN_ORIGIN', 'a session works only for pages of this server (oidc.baseUrl)')

const providerAway = () =>
  new CatracaError('SIGN_IN_UNAVAILABLE', 'the sign-in provider has not confirmed this session for too long')
