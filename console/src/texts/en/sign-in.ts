export const signIn = {
  title: 'Sign in',
  lead: 'Use an API key of this server. It stays in this tab and is forgotten when you close it.',
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
  foreign: 'This server has no keys yet and answers only its own machine.',
}
