import { closed } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

/** What the console needs of sign-in by OpenID Connect. Browsers begin and finish it at `/sign-in`. */
export const SIGN_IN = operations('operations', {
  getSignIn: {
    route: 'GET /sign-in/offer',
    summary: 'Can people sign in with a provider?',
    scope: 'open',
    answers: {
      200: [
        'Whether `/sign-in` leads to a provider, and what the console calls it',
        Type.Object({ offered: Type.Boolean(), label: Type.Optional(Type.String()) }, closed),
      ],
    },
  },
  signOut: {
    route: 'POST /sign-out',
    summary: 'End the session of this browser',
    scope: 'open',
    answers: {
      200: [
        'Ended, or there was none. With `location`, the browser goes there to end the session at the provider',
        Type.Object({ location: Type.Optional(Type.String()) }, closed),
      ],
    },
  },
})
