import { PREFIX } from '../keys.js'

export const API_KEYS_KEY = `${PREFIX.store}:keys`
