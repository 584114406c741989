import { CatracaError } from '../../../core/errors.js'
import type { Limits } from '../../../guards/access/grants.js'
import {
  type RoleOptions,
  SIGN_IN_DEFAULTS,
  type SignInOptions,
} from '../../../guards/access/sign-in-options.js'
import { isLoopbackName } from '../loopback.js'

export type SignInSettings = Required<Omit<SignInOptions, 'clientSecret' | 'label' | 'prompt'>> &
  Pick<SignInOptions, 'clientSecret' | 'label' | 'prompt'> & { readonly isSecure: boolean }

const MIN_SECRET_LENGTH = 32

export function signInSettings(options: SignInOptions): SignInSettings {
  const settings = { ...SIGN_IN_DEFAULTS, ...options }
  const base = safeUrl('oidc.baseUrl', settings.baseUrl)
  safeUrl('oidc.issuer', settings.issuer)
  if (base.pathname !== '/') throw wrong('oidc.baseUrl', 'must be an origin, without a path')
  if (settings.secret().length < MIN_SECRET_LENGTH) {
    throw wrong('oidc.secret', `must have at least ${MIN_SECRET_LENGTH} characters`)
  }
  if (settings.roles.length === 0) throw wrong('oidc.roles', 'must have at least one role')
  if (!settings.scopes.split(' ').includes('openid')) throw wrong('oidc.scopes', 'must contain openid')
  // A longer time would keep a person who was removed at the provider.
  const confirmMs = Math.min(settings.confirmMs, SIGN_IN_DEFAULTS.confirmMs)
  return { ...settings, baseUrl: base.origin, confirmMs, isSecure: base.protocol === 'https:' }
}

/** Without a role that reaches everything, a name of neither kind is reached. */
export const limitsOf = ({ lists, resources }: RoleOptions): Limits | undefined =>
  lists === undefined && resources === undefined
    ? undefined
    : { lists: lists ?? [], resources: resources ?? [] }

/** Without TLS anybody on the way could take codes, tokens and cookies. */
function safeUrl(path: string, text: string): URL {
  if (!URL.canParse(text)) throw wrong(path, 'must be a URL')
  const url = new URL(text)
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackName(url.hostname))
  if (!isSafe)
    throw wrong(path, 'must be https; http is allowed only for this machine (127.0.0.1, localhost)')
  return url
}

const wrong = (path: string, why: string) => new CatracaError('CONFIG_INVALID', `${path} ${why}`)
