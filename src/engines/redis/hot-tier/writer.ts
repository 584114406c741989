import { randomBytes } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import type { Position } from '../../../guards/allowlist/changes/port.js'
import type { HotContent, HotMember, HotSetWriter } from '../../../guards/allowlist/hot/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript, type Script } from '../link/script.js'
import { type HotKeys, hotKeys, readPosition, unsure, writePosition } from './keys.js'

const uses = ['clock', 'hot-keeping']
const CLAIM = defineScript('hot-claim', { keys: ['set', 'hash', 'any'], write: true, uses: ['clock'] })
const LOAD = defineScript('hot-load', { keys: ['set', 'hash', 'string'], write: true, uses })
const PUBLISH = defineScript('hot-publish', { keys: ['set', 'hash', 'set'], write: true, uses })
const APPLY = defineScript('hot-apply', { keys: ['set', 'hash', 'string'], write: true, uses })
const DROP = defineScript('hot-drop', { keys: ['set', 'hash', 'string', 'set'], write: true, uses })

/** A set that is no longer maintained, because its list is no longer hot, expires. */
const KEPT_MS = 3_600_000

export interface HotSetOptions {
  /** An updater that is silent for this long counts as dead. */
  leaseMs: number
  /** How long a set may answer checks after it was last known to be complete. */
  staleAfterMs: number
}

type Claimed = ['taken' | 'foreign'] | ['yours', string, (string | null)?, string?, string?]

/** Undefined: another process maintains the set. */
export async function claimSet(
  redis: Redis,
  listId: string,
  owner: string,
  options: HotSetOptions,
): Promise<HotSetWriter | undefined> {
  const keys = hotKeys(listId)
  const step = newStep()
  const args = [owner, step, String(options.leaseMs), String(KEPT_MS)]
  const claimed = await redis.run(CLAIM, [keys.set, keys.control, keys.meta], args, { gathered: true })
  const [outcome, serverMs, fill, state, position] = claimed as Claimed
  if (outcome === 'foreign') {
    const message = `${keys.set} belongs to a store in the database of the hot tier, which needs one of its own`
    throw new CatracaError('CONFIG_INVALID', message)
  }
  if (outcome === 'taken') return undefined
  const isWhole = fill != null && state !== undefined && position !== undefined
  const content = isWhole ? { state, position: readPosition(position) } : undefined
  // A lower bound, because the reply took some time to arrive.
  const aheadMs = Number(serverMs) - performance.now()
  return new RedisHotSetWriter(redis, keys, options, { step, fill: fill ?? '', content, aheadMs })
}

interface Claim {
  step: string
  fill: string
  content: HotContent | undefined
  /** Add this to `performance.now()` to get a time that is not later than the server's. */
  aheadMs: number
}

class RedisHotSetWriter implements HotSetWriter {
  readonly content: HotContent | undefined
  private lastStep: string
  private fillId: string

  constructor(
    private readonly redis: Redis,
    private readonly keys: HotKeys,
    private readonly options: HotSetOptions,
    private readonly claim: Claim,
  ) {
    this.content = claim.content
    this.lastStep = claim.step
    this.fillId = claim.fill
  }

  startLoad(): Promise<boolean> {
    this.fillId = randomBytes(9).toString('base64url')
    return this.runLoad('start', [])
  }

  load(members: readonly HotMember[]): Promise<boolean> {
    return this.runLoad('more', split(members).present)
  }

  finishLoad({ state, position }: HotContent): Promise<boolean> {
    const { set, control, next } = this.keys
    return this.run(PUBLISH, [set, control, next], [this.fillId, state, writePosition(position)])
  }

  apply(changes: readonly HotMember[], position?: Position): Promise<boolean> {
    const { present, absent } = split(changes)
    const reached = position === undefined ? '' : writePosition(position)
    return this.runApply([reached, '', String(present.length), ...present, ...absent])
  }

  confirm(freshAtMs: number): Promise<boolean> {
    const untilMs = Math.floor(freshAtMs + this.claim.aheadMs + this.options.staleAfterMs)
    // It is unknown how old the logs are.
    if (!Number.isFinite(untilMs)) return Promise.resolve(true)
    return this.runApply(['', String(Math.max(1, untilMs)), '0'])
  }

  drop(): Promise<boolean> {
    return this.end('drop')
  }

  async release(): Promise<void> {
    await this.end('release')
  }

  private runLoad(how: 'start' | 'more', elements: readonly string[]): Promise<boolean> {
    const { next, control, fresh } = this.keys
    return this.run(LOAD, [next, control, fresh], [String(KEPT_MS), this.fillId, how, ...elements])
  }

  private runApply(args: readonly string[]): Promise<boolean> {
    const { set, control, fresh } = this.keys
    return this.run(APPLY, [set, control, fresh], [this.fillId, ...args])
  }

  private end(how: 'drop' | 'release'): Promise<boolean> {
    const { set, control, fresh, next } = this.keys
    return this.run(DROP, [set, control, fresh, next], [how])
  }

  private async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<boolean> {
    const after = newStep()
    const steps = [this.lastStep, after, String(this.options.leaseMs)]
    const done = await this.redis.run(script, keys, [...steps, ...args], { gathered: true })
    if (done === 1) this.lastStep = after
    return done === 1
  }
}

const newStep = (): string => randomBytes(9).toString('base64url')

/** The elements that the set must contain for these customers, and those that it must not. */
function split(members: readonly HotMember[]): { present: string[]; absent: string[] } {
  const present: string[] = []
  const absent: string[] = []
  for (const { customerId, is } of members) {
    ;(is === 'member' ? present : absent).push(customerId)
    ;(is === 'expiring' ? present : absent).push(unsure(customerId))
  }
  return { present, absent }
}
