import { SIGN_IN_FAILURES, type SignInFailure } from './store.js'

const NAME = 'signIn'

/** Leads to the provider, and from there back to this page. */
export function signInAddress(): string {
  const { pathname, search } = location
  return `/sign-in?${new URLSearchParams({ returnTo: pathname + search })}`
}

/** Why the provider led back without a session. The address no longer says it afterwards. */
export function failureOfSignIn(): SignInFailure | undefined {
  const address = new URL(location.href)
  const told = address.searchParams.get(NAME)
  if (told === null) return undefined
  address.searchParams.delete(NAME)
  history.replaceState(history.state, '', address)
  return SIGN_IN_FAILURES.find((failure) => failure === told) ?? 'failed'
}
