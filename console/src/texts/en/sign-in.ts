export const signIn = {
  title: 'Sign in',
  lead: 'Use an API key of this server. It is shared with other open tabs and forgotten when the last one is closed.',
  key: 'API key',
  keyHint: 'Make one with: catraca key create NAME --scopes read,check',
  submit: 'Sign in',
  wrongKey: 'The server does not know this key, or it was revoked.',
  missingKey: 'Type a key.',
  refused: 'You were signed out: the server no longer accepts your key.',
  idle: 'You were signed out after 30 minutes without activity.',
  signedOut: 'You are signed out.',
  signedOutElsewhere: 'You signed out in another tab.',
  unsaved: (name: string) =>
    `Changes that were not saved are kept for the key ${name}. If you sign in with another key, they are dropped.`,
  dropped: 'Changes that were not saved under the other key are dropped.',
  withProvider: (name: string) => `Sign in with ${name}`,
  company: 'the company account',
  leadProvider:
    'Use the account of your company. Your session ends when you sign out, or when you lose your access.',
  useKey: 'Use an API key',
  ended: 'Your session has ended. Sign in again.',
  notEnded:
    'The server could not be reached, so your session there may go on. Sign in and out again, or close the browser.',
  failures: {
    denied: 'The provider did not let you in, or you went back.',
    'no-role':
      'You are known to the provider, but none of your groups has a role here. Ask whoever runs this server.',
    expired: 'This sign-in was begun too long ago, or in another browser. Begin again.',
    failed: 'Signing in failed. Begin again; if it fails again, the log of the server says why.',
    away: 'The provider does not answer. Try again in a moment, or use an API key.',
    busy: 'Too many sign-ins have failed. Try again in a minute.',
  },
  foreign: 'This server has no keys yet and answers only its own machine.',
}
