import type { AuditTrail } from '../guards/audit/index.js'
import type { CacheSpace } from '../guards/cache/space.js'
import { checked } from './call-rules.js'
import { type Decoration, decorated } from './decorate.js'
import { CHECKED_CALLS, type Guards } from './fields-of-calls.js'
import type { Offered } from './open-ports.js'
import { recorded } from './record-audit.js'

/** The guards as users get them: calls are checked, then changes are recorded, then the guard is called. */
export function decoratedGuards(guards: Offered<Guards>, trail: AuditTrail): Offered<Guards> {
  const made = (Object.keys(guards) as (keyof Guards)[]).map((name) => {
    const guard: object | undefined = guards[name]
    if (guard === undefined) return [name, undefined]
    const calls = CHECKED_CALLS[name]
    const spaces = guard === guards.cache ? [checkedSpaces] : []
    return [name, decorated(guard, calls, ...spaces, recorded(trail, name, guard), checked(calls))]
  })
  return Object.fromEntries(made) as Offered<Guards>
}

/** A space is opened once and returned again and again, so it is decorated once. */
const SPACES = new WeakMap<CacheSpace<unknown>, CacheSpace<unknown>>()

const checkedSpaces: Decoration = (name, open) => {
  if (name !== 'space') return open
  return (options) => {
    const space = open(options) as CacheSpace<unknown>
    let made = SPACES.get(space)
    if (made === undefined) {
      made = decorated(space, CHECKED_CALLS.space, checked(CHECKED_CALLS.space))
      SPACES.set(space, made)
    }
    return made
  }
}
