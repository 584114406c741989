import { PREFIX } from '../keys.js'

export const API_KEYS_KEY = `${PREFIX.store}:keys`

/** `person` is a hash in base64url. */
export const sessionsKey = (person: string): string => `${PREFIX.store}:sessions:${person}`
