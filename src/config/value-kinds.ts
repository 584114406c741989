import { isCatracaError } from '../core/errors.js'
import { identifier, plainName } from '../core/identifiers.js'
import { parseStoreUrl, storeUrlOf } from '../engines/registry.js'
import { parseScopes } from '../guards/access/index.js'
import type { KeyRecord } from '../guards/access/port.js'
import { parseSpaceOptions, type SpaceOptions } from '../guards/cache/options.js'

/** A kind of value: how it is written as text (flags, environment) and as JSON (file). */
export interface Kind<T> {
  /** For the reference page. */
  readonly type: string
  fromText(text: string): T
  fromJson(value: unknown): T
}

/** Why a value is wrong; the loader adds the name and the source of the setting. */
export class WrongValue extends Error {}

export const text: Kind<string> = {
  type: 'text',
  fromText: (value) => text.fromJson(value),
  fromJson: (value) => {
    if (typeof value !== 'string' || value === '') throw new WrongValue('must be a text that is not empty')
    return value
  },
}

export function choice<const V extends string>(values: readonly V[]): Kind<V> {
  const check = (value: unknown): V => {
    if (!(values as readonly unknown[]).includes(value)) {
      throw new WrongValue(`must be one of ${values.join(', ')}`)
    }
    return value as V
  }
  return { type: values.map((value) => `\`${value}\``).join(' or '), fromText: check, fromJson: check }
}

export const flag: Kind<boolean> = {
  type: '`true` or `false`',
  fromText: (value) => {
    if (value === 'true' || value === '1') return true
    if (value === 'false' || value === '0') return false
    throw new WrongValue('must be true or false')
  },
  fromJson: (value) => {
    if (typeof value !== 'boolean') throw new WrongValue('must be true or false')
    return value
  },
}

export function integer(min: number, max: number): Kind<number> {
  const check = (value: unknown): number => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      throw new WrongValue(`must be a whole number from ${min} to ${max}`)
    }
    return value as number
  }
  return {
    type: `whole number, ${min} to ${max}`,
    // Only digits: Number() also accepts '', '0x10' and '1e3'.
    fromText: (value) => check(/^-?\d+$/.test(value) ? Number(value) : undefined),
    fromJson: check,
  }
}

/** A number from 0 to 1. */
export const share: Kind<number> = {
  type: 'number, 0 to 1',
  fromText: (value) => share.fromJson(/^\d*\.?\d+$/.test(value) ? Number(value) : undefined),
  fromJson: (value) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
      throw new WrongValue('must be a number from 0 to 1')
    }
    return value
  },
}

export const storeUrl: Kind<string> = {
  type: 'store URL',
  fromText: (value) => {
    try {
      parseStoreUrl(value)
    } catch (error) {
      if (isCatracaError(error)) throw new WrongValue(`is wrong: ${error.message}`)
      throw error
    }
    return value
  },
  fromJson: (value) => storeUrl.fromText(text.fromJson(value)),
}

export const redisUrl: Kind<string> = {
  type: 'store URL of Redis',
  fromText: (value) => {
    if (storeUrlOf('redis', storeUrl.fromText(value)) === undefined) {
      throw new WrongValue('must be a redis:// URL, or one of its other forms')
    }
    return value
  },
  fromJson: (value) => redisUrl.fromText(text.fromJson(value)),
}

/** Independent servers, each at most once. */
export const redisUrls: Kind<readonly string[]> = {
  type: 'store URLs of Redis, separated by commas',
  fromText: (value) => redisUrls.fromJson(value.split(',').map((url) => url.trim())),
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of redis:// URLs')
    const urls = value.map((url) => redisUrl.fromJson(url))
    if (new Set(urls).size < urls.length) throw new WrongValue('must not name a server twice')
    return urls
  },
}

/** List ids, each at most once, in canonical spelling. */
export const listIds: Kind<readonly string[]> = {
  type: 'ids, separated by commas',
  fromText: (value) => listIds.fromJson(value.split(',').map((id) => id.trim())),
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of ids')
    try {
      return [...new Set(value.map((id) => plainName('each id', id)))]
    } catch (error) {
      if (isCatracaError(error)) throw new WrongValue(`is wrong: ${error.message}`)
      throw error
    }
  },
}

export const httpUrl: Kind<string> = {
  type: 'http:// or https:// URL',
  fromText: (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
      throw new WrongValue('must be a URL with http:// or https://')
    }
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      throw new WrongValue('must hold no credentials, query or fragment')
    }
    return value
  },
  fromJson: (value) => httpUrl.fromText(text.fromJson(value)),
}

/** A key from the configuration, known only by its hash. */
export type BootstrapKey = Pick<KeyRecord, 'name' | 'scopes' | 'hash'>

const HASH = /^[0-9a-f]{64}$/

export const apiKeys: Kind<readonly BootstrapKey[]> = {
  type: 'JSON array of `{ "name", "scopes", "hash" }`',
  fromText: (value) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(value)
    } catch {
      throw new WrongValue('must be a JSON array of { name, scopes, hash }')
    }
    return apiKeys.fromJson(parsed)
  },
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of { name, scopes, hash }')
    const keys = value.map(parseKey)
    const names = new Set(keys.map((key) => key.name))
    if (names.size < keys.length) throw new WrongValue('names a key twice')
    return keys
  },
}

function parseKey(value: unknown, index: number): BootstrapKey {
  if (typeof value !== 'object' || value === null) throw new WrongValue(`[${index}] must be an object`)
  const { name, scopes, hash, ...others } = value as Record<string, unknown>
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw new WrongValue(`[${index}] has an unknown field "${unknown}"`)
  if (typeof hash !== 'string' || !HASH.test(hash)) {
    throw new WrongValue(`[${index}].hash must be the SHA-256 of the key in 64 lower-case hexadecimal digits`)
  }
  try {
    return {
      name: identifier(`[${index}].name`, name),
      scopes: parseScopes(`[${index}].scopes`, scopes),
      hash,
    }
  } catch (error) {
    if (isCatracaError(error)) throw new WrongValue(error.message)
    throw error
  }
}

export const cacheSpaces: Kind<readonly SpaceOptions[]> = {
  type: 'JSON array of `{ "name", "ttlMs", … }`',
  fromText: (value) => {
    let parsed: unknown
    try {
      parsed = JSON.parse(value)
    } catch {
      throw new WrongValue('must be a JSON array of { name, ttlMs, … }')
    }
    return cacheSpaces.fromJson(parsed)
  },
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of { name, ttlMs, … }')
    const spaces = value.map((space, i) => {
      try {
        return parseSpaceOptions(space)
      } catch (error) {
        if (isCatracaError(error)) throw new WrongValue(`[${i}] is wrong: ${error.message}`)
        throw error
      }
    })
    const names = new Set(spaces.map(({ name }) => name))
    if (names.size < spaces.length) throw new WrongValue('names a space twice')
    return spaces
  },
}
