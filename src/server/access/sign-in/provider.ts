import type { Configuration, ServerMetadata, TokenEndpointResponse } from 'openid-client'
import { packageMissing } from '../../../core/packages.js'
import type { Claims } from './people.js'
import { isRefusal } from './provider-failures.js'
import type { SignInSettings } from './settings.js'

type Oidc = typeof import('openid-client')

/** What a sign-in that has begun must end with. */
export interface Expected {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** What we keep of the tokens: to ask again, and to end the session at the provider too. */
export interface Tokens {
  readonly refresh?: string
  readonly id?: string
}

/** What the provider has confirmed of a person. */
export interface Confirmed {
  readonly subject: string
  readonly claims: Claims
  readonly tokens: Tokens
  /** Of the access token. Undefined when the provider does not say. */
  readonly lifeMs: number | undefined
}

/** `refused`: the provider says that this person has no session any more. `away`: it says nothing. */
export type Renewal = { confirmed: Confirmed } | { refused: unknown } | { away: unknown }

const DISCOVERED_FOR_MS = 3_600_000
/** Nobody may make the server ask a provider that is away again and again. */
const FAILED_FOR_MS = 2_000
/** Larger ones are not kept: the provider then asks the person whether to sign out. */
const MAX_ID_TOKEN = 8_192

/** The provider of OpenID Connect. */
export class Provider {
  private discovered: { until: number; metadata: Promise<ServerMetadata> } | undefined

  private constructor(
    private readonly oidc: Oidc,
    private readonly settings: SignInSettings,
  ) {}

  /** Loads the package, which few installations need. The provider itself may be away. */
  static async open(settings: SignInSettings): Promise<Provider> {
    const oidc = await import('openid-client').catch((cause) => {
      throw packageMissing('openid-client', 'sign-in (oidc.issuer)', cause)
    })
    return new Provider(oidc, settings)
  }

  /** Where to send the browser, and what it must come back with. */
  async begin(): Promise<{ url: URL; expected: Expected }> {
    const { oidc } = this
    const expected = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(await this.configuration(), {
      redirect_uri: this.redirectUri,
      scope: this.settings.scopes,
      state: expected.state,
      nonce: expected.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(expected.verifier),
      code_challenge_method: 'S256',
      ...(this.settings.prompt !== undefined && { prompt: this.settings.prompt }),
    })
    return { url, expected }
  }

  /** Exchanges the code that the browser brought. `query` begins with `?`. */
  async exchange(query: string, expected: Expected): Promise<Confirmed> {
    const url = new URL(this.redirectUri)
    url.search = query
    const configuration = await this.configuration()
    const response = await this.oidc.authorizationCodeGrant(configuration, url, {
      expectedState: expected.state,
      expectedNonce: expected.nonce,
      pkceCodeVerifier: expected.verifier,
      idTokenExpected: true,
    })
    const { sub } = response.claims()!
    return this.confirmed(configuration, response, sub, {})
  }

  /** Asks whether the person is still there. */
  async renew(subject: string, tokens: Tokens & { refresh: string }): Promise<Renewal> {
    let stage: 'discovery' | 'token' | 'userinfo' = 'discovery'
    try {
      const configuration = await this.configuration()
      stage = 'token'
      const response = await this.oidc.refreshTokenGrant(configuration, tokens.refresh)
      if ((response.claims()?.sub ?? subject) !== subject) return { refused: new Error('another subject') }
      stage = 'userinfo'
      return { confirmed: await this.confirmed(configuration, response, subject, tokens) }
    } catch (error) {
      return isRefusal(error, stage) ? { refused: error } : { away: error }
    }
  }

  /** Where the browser ends the session at the provider; undefined where it offers nothing. */
  async endUrl({ id }: Tokens): Promise<string | undefined> {
    const configuration = await this.configuration()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    const parameters = {
      post_logout_redirect_uri: `${this.settings.baseUrl}/console`,
      ...(id !== undefined && { id_token_hint: id }),
    }
    return this.oidc.buildEndSessionUrl(configuration, parameters).href
  }

  /** Tells the provider that nobody needs the refresh token any more, where it offers that. */
  async revoke({ refresh }: Tokens): Promise<void> {
    const configuration = await this.configuration()
    if (refresh === undefined || configuration.serverMetadata().revocation_endpoint === undefined) return
    await this.oidc.tokenRevocation(configuration, refresh, { token_type_hint: 'refresh_token' })
  }

  private get redirectUri(): string {
    return `${this.settings.baseUrl}/sign-in/callback`
  }

  private async confirmed(
    configuration: Configuration,
    response: TokenEndpointResponse & { claims(): Claims | undefined },
    subject: string,
    before: Tokens,
  ): Promise<Confirmed> {
    const claims = {
      ...(await this.userInfo(configuration, response.access_token, subject)),
      ...response.claims(),
    }
    const refresh = response.refresh_token ?? before.refresh
    const id = response.id_token ?? before.id
    return {
      subject,
      claims,
      tokens: {
        ...(refresh !== undefined && { refresh }),
        ...(id !== undefined && id.length <= MAX_ID_TOKEN && { id }),
      },
      lifeMs: response.expires_in === undefined ? undefined : response.expires_in * 1000,
    }
  }

  /** Many providers say only here who is in which group; and it refuses a token of somebody who was removed. */
  private async userInfo(configuration: Configuration, token: string, subject: string): Promise<Claims> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
    return this.oidc.fetchUserInfo(configuration, token, subject)
  }

  /**
   * A new one for each call: it has no keys of the provider yet, so a key that the provider has just replaced is never
   * missing. That costs one small request in ten minutes for each session.
   */
  private async configuration(): Promise<Configuration> {
    const { oidc, settings } = this
    const { clientId, clientSecret, clientAuth, clockToleranceSeconds, timeoutMs } = settings
    const secret = clientSecret?.()
    const basic = clientAuth === 'client_secret_basic'
    const authentication =
      secret === undefined
        ? oidc.None()
        : basic
          ? oidc.ClientSecretBasic(secret)
          : oidc.ClientSecretPost(secret)
    const client = { [oidc.clockTolerance]: clockToleranceSeconds }
    const configuration = new oidc.Configuration(await this.metadata(), clientId, client, authentication)
    configuration.timeout = timeoutMs / 1000
    // The settings allow it on this machine only.
    if (settings.issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration)
    oidc.enableNonRepudiationChecks(configuration)
    return configuration
  }

  private metadata(): Promise<ServerMetadata> {
    const nowMs = performance.now()
    if (this.discovered !== undefined && nowMs < this.discovered.until) return this.discovered.metadata
    const metadata = this.discover()
    const discovered = { until: nowMs + DISCOVERED_FOR_MS, metadata }
    metadata.catch(() => {
      discovered.until = performance.now() + FAILED_FOR_MS
    })
    this.discovered = discovered
    return metadata
  }

  private async discover(): Promise<ServerMetadata> {
    const { oidc, settings } = this
    const found = await oidc.discovery(new URL(settings.issuer), settings.clientId, undefined, oidc.None(), {
      timeout: settings.timeoutMs / 1000,
      ...(settings.issuer.startsWith('http:') && { execute: [oidc.allowInsecureRequests] }),
    })
    return { ...found.serverMetadata() }
  }
}
