import { CatracaError } from '../../core/errors.js'

/** For those who would rather be told of it by an error: the same words as the adapters'. */
export const tokenRevoked = (): CatracaError => new CatracaError('TOKEN_REVOKED', 'the token was revoked')
