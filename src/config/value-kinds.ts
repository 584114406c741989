import { isCatracaError } from '../core/errors.js'
import { identifier, plainName } from '../core/identifiers.js'
import { type LimitSplit, MAX_PARTS } from '../engines/dynamodb/defaults.js'
import { parseStoreUrl, storeUrlOf } from '../engines/registry.js'
import { parseScopes } from '../guards/access/index.js'
import type { KeyRecord } from '../guards/access/port.js'
import type { RoleOptions } from '../guards/access/sign-in-options.js'
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
    wrongIfRefused('is wrong: ', () => parseStoreUrl(value))
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

/** Texts in a canonical spelling, each at most once. `read` throws for a wrong one. */
function names(type: string, max: number, read: (value: unknown) => string): Kind<readonly string[]> {
  const kind: Kind<readonly string[]> = {
    type,
    fromText: (value) => kind.fromJson(value.split(',').map((name) => name.trim())),
    fromJson: (value) => {
      if (!Array.isArray(value)) throw new WrongValue('must be an array of ids')
      if (value.length > max) throw new WrongValue(`must not have more than ${max} entries`)
      return wrongIfRefused('is wrong: ', () => [...new Set(value.map(read))])
    },
  }
  return kind
}

/** `RESOURCE=PARTS` or `RESOURCE/ENTITY=PARTS`; an entity may contain a `=`. */
export const limitSplits: Kind<readonly LimitSplit[]> = {
  type: '`RESOURCE=PARTS` or `RESOURCE/ENTITY=PARTS`, separated by commas',
  fromText: (value) => limitSplits.fromJson(value.split(',').map((split) => split.trim())),
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of texts')
    const splits = wrongIfRefused('is wrong: ', () => value.map(limitSplit))
    const names = splits.map(({ resource, entity }) => `${resource} ${entity ?? ''}`)
    if (new Set(names).size < names.length) throw new WrongValue('names a limit twice')
    return splits
  },
}

function limitSplit(value: unknown): LimitSplit {
  const [, resource, entity, parts] = /^([^/=]+)(?:\/(.+))?=(\d{1,3})$/.exec(String(value)) ?? []
  const count = Number(parts)
  if (resource === undefined || count < 2 || count > MAX_PARTS) {
    throw new WrongValue(`must be RESOURCE=PARTS or RESOURCE/ENTITY=PARTS, with 2 to ${MAX_PARTS} parts`)
  }
  return {
    resource: plainName('the resource', resource),
    ...(entity !== undefined && { entity: identifier('the entity', entity) }),
    parts: count,
  }
}

const listId = (id: unknown): string => plainName('each id', id)

export const listIds = names('ids, separated by commas', Number.POSITIVE_INFINITY, listId)

const MAX_EXPOSED_FLAGS = 1_000

/** List ids, and beginnings of ids with a `*` behind them. `*` alone means every list. */
export const exposedFlags = names(
  `ids, or beginnings of ids with \`*\` behind them, separated by commas; at most ${MAX_EXPOSED_FLAGS}`,
  MAX_EXPOSED_FLAGS,
  (value) => {
    if (value === '*') return value
    const isPrefix = typeof value === 'string' && value.endsWith('*')
    return isPrefix ? `${listId(value.slice(0, -1))}*` : listId(value)
  },
)

export const resourceName: Kind<string> = {
  type: 'name of a resource',
  fromText: (value) => names('', 1, (name) => plainName('it', name)).fromJson([value])[0]!,
  fromJson: (value) => resourceName.fromText(text.fromJson(value)),
}

export const urlPath: Kind<string> = {
  type: 'path, beginning with `/`',
  fromText: (value) => {
    if (!/^\/[A-Za-z0-9._~/-]{0,255}$/.test(value)) throw new WrongValue('must be a path that begins with /')
    return value
  },
  fromJson: (value) => urlPath.fromText(text.fromJson(value)),
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

/** A JSON array whose items the server reads when it starts. */
export const rules: Kind<readonly unknown[]> = {
  type: 'JSON array of rules',
  fromText: (value) => {
    try {
      return rules.fromJson(JSON.parse(value))
    } catch {
      throw new WrongValue('must be a JSON array of objects')
    }
  },
  fromJson: (value) => {
    if (!Array.isArray(value)) throw new WrongValue('must be an array of objects')
    return value
  },
}

/** A JSON array of objects, each with a name of its own. */
function namedObjects<T extends { name: string }>(
  form: string,
  noun: string,
  parse: (value: unknown, index: number) => T,
): Kind<readonly T[]> {
  const kind: Kind<readonly T[]> = {
    type: `JSON array of \`${form.replaceAll(/\w+/g, '"$&"')}\``,
    fromText: (value) => {
      let parsed: unknown
      try {
        parsed = JSON.parse(value)
      } catch {
        throw new WrongValue(`must be a JSON array of ${form}`)
      }
      return kind.fromJson(parsed)
    },
    fromJson: (value) => {
      if (!Array.isArray(value)) throw new WrongValue(`must be an array of ${form}`)
      const all = value.map(parse)
      if (new Set(all.map(({ name }) => name)).size < all.length)
        throw new WrongValue(`names a ${noun} twice`)
      return all
    },
  }
  return kind
}

/** What the reader of another module finds wrong is wrong with the value. */
function wrongIfRefused<T>(prefix: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (isCatracaError(error)) throw new WrongValue(prefix + error.message)
    throw error
  }
}

/** A key from the configuration, known only by its hash. */
export type BootstrapKey = Pick<KeyRecord, 'name' | 'scopes' | 'hash'>

const HASH = /^[0-9a-f]{64}$/

export const apiKeys = namedObjects<BootstrapKey>('{ name, scopes, hash }', 'key', parseKey)

function parseKey(value: unknown, index: number): BootstrapKey {
  if (typeof value !== 'object' || value === null) throw new WrongValue(`[${index}] must be an object`)
  const { name, scopes, hash, ...others } = value as Record<string, unknown>
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw new WrongValue(`[${index}] has an unknown field "${unknown}"`)
  if (typeof hash !== 'string' || !HASH.test(hash)) {
    throw new WrongValue(`[${index}].hash must be the SHA-256 of the key in 64 lower-case hexadecimal digits`)
  }
  return wrongIfRefused('', () => ({
    name: identifier(`[${index}].name`, name),
    scopes: parseScopes(`[${index}].scopes`, scopes),
    hash,
  }))
}

const patterns = (path: string, value: unknown): readonly string[] => {
  const isList = Array.isArray(value) && value.length > 0
  if (!isList) throw new WrongValue(`${path} must be an array of names, or of beginnings with * behind them`)
  return exposedFlags.fromJson(value)
}

const MAX_GROUPS = 1_000

/** Roles of people, by their groups at the provider. */
export const roles = namedObjects<RoleOptions>(
  '{ name, groups, scopes, lists, resources }',
  'role',
  (value, i) => {
    if (typeof value !== 'object' || value === null) throw new WrongValue(`[${i}] must be an object`)
    const { name, groups, scopes, lists, resources, ...others } = value as Record<string, unknown>
    const unknown = Object.keys(others)[0]
    if (unknown !== undefined) throw new WrongValue(`[${i}] has an unknown field "${unknown}"`)
    const isText = (one: unknown) => typeof one === 'string' && one !== ''
    if (
      !Array.isArray(groups) ||
      groups.length === 0 ||
      groups.length > MAX_GROUPS ||
      !groups.every(isText)
    ) {
      throw new WrongValue(`[${i}].groups must be an array of 1 to ${MAX_GROUPS} texts`)
    }
    return wrongIfRefused('', () => ({
      name: identifier(`[${i}].name`, name),
      groups,
      scopes: parseScopes(`[${i}].scopes`, scopes),
      ...(lists !== undefined && { lists: patterns(`[${i}].lists`, lists) }),
      ...(resources !== undefined && { resources: patterns(`[${i}].resources`, resources) }),
    }))
  },
)

export const cacheSpaces = namedObjects<SpaceOptions>('{ name, ttlMs, … }', 'space', (space, i) =>
  wrongIfRefused(`[${i}] is wrong: `, () => parseSpaceOptions(space)),
)
