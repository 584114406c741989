import { CatracaError } from '../../core/errors.js'

/** Turns a revoked token into an error, with the same text as the adapters use. */
export const tokenRevoked = (): CatracaError => new CatracaError('TOKEN_REVOKED', 'the token was revoked')
