import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { checkWindow, WindowCounts, type WindowStoreOptions } from './window-counts.js'

export type { WindowStoreOptions } from './window-counts.js'

const FIELDS: Fields<WindowStoreOptions> = { catraca: true, resource: true }
const KNOWN = new KnownFields(FIELDS)
const NAMES = { limit: 'max', windowMs: 'timeWindow' }

/** What the plugin tells a store of its options, or of those of a route. */
interface PluginOptions {
  max?: unknown
  timeWindow?: unknown
  ban?: number
  continueExceeding?: boolean
  exponentialBackoff?: boolean
  groupId?: string
  routeInfo?: { method?: string | string[]; url?: string }
}

type Told = Parameters<FastifyRateLimitStore['incr']>[1]

/**
 * A store of @fastify/rate-limit, whose limits count for all processes on one store. The plugin makes the store itself, so
 * this returns the class that it asks for. Refuses wrong options.
 */
export function rateLimitStore(options: WindowStoreOptions): FastifyRateLimitStoreCtor {
  KNOWN.check(options)
  const counts = new WindowCounts(options)
  return class extends CatracaRateLimitStore {
    constructor(ofPlugin: PluginOptions) {
      super(counts, ofPlugin, prefixOf('all'))
    }
  }
}

class CatracaRateLimitStore implements FastifyRateLimitStore {
  constructor(
    private readonly counts: WindowCounts,
    ofPlugin: PluginOptions,
    private readonly prefix: string,
  ) {
    refuseUncountable(ofPlugin)
  }

  /** The limit and its window come with each call: the plugin has called what are functions of the request. */
  incr(key: string, told: Told, timeWindow: number, max: number): void {
    this.add(key, timeWindow, max).then((count) => told(null, count), told)
  }

  /** The count without another request. */
  read(key: string, told: Told, timeWindow: number, max: number): void {
    this.look(key, timeWindow, max).then((count) => told(null, count), told)
  }

  /** For a route with options of its own: it counts for itself, or with its group. */
  child(ofRoute: object): CatracaRateLimitStore {
    const { groupId, routeInfo: { method = '', url = '' } = {} } = ofRoute as PluginOptions
    const prefix =
      groupId === undefined ? prefixOf('route', [method].flat().join(), url) : prefixOf('group', groupId)
    return new CatracaRateLimitStore(this.counts, ofRoute as PluginOptions, prefix)
  }

  private async add(key: string, windowMs: number, limit: number) {
    const window = checkWindow({ limit, windowMs }, NAMES)
    const { hits, resetMs } = await this.counts.add(this.prefix + key, window)
    return { current: hits, ttl: resetMs }
  }

  private async look(key: string, windowMs: number, limit: number) {
    const window = checkWindow({ limit, windowMs }, NAMES)
    const { hits, resetMs } = await this.counts.read(this.prefix + key, window)
    return { current: hits, ttl: hits === 0 ? 0 : resetMs }
  }
}

/** Keys may come from callers. Behind a prefix that ends, none can be the key of another route or group. */
const prefixOf = (...parts: string[]): string => `${parts.join('\n')}\n`

/** When the store is made, so that the application does not start with limits that would not hold. */
function refuseUncountable(options: PluginOptions): void {
  const { max, timeWindow, ban = -1, continueExceeding = false, exponentialBackoff = false } = options
  const numbers = {
    limit: typeof max === 'function' ? 1 : max,
    windowMs: typeof timeWindow === 'function' ? 1000 : timeWindow,
  }
  checkWindow(numbers, NAMES)
  if (ban > 0) throw invalid('ban', 'must be left out, or 0: denied requests are not counted')
  if (continueExceeding)
    throw invalid('continueExceeding', 'must be left out: a denied request takes nothing')
  if (exponentialBackoff) {
    throw invalid('exponentialBackoff', 'must be left out: a denial lasts until its window ends')
  }
}
