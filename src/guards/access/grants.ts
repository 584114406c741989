import { plainName } from '../../core/identifiers.js'
import type { Scope } from './scopes.js'

/** Ids of lists and names of resources; a `*` at the end stands for any ending. */
export interface Limits {
  readonly lists: readonly string[]
  readonly resources: readonly string[]
}

/** What one role permits: its scopes, everywhere or only within its limits. */
export interface Grant {
  readonly scopes: ReadonlySet<Scope>
  readonly limits?: Limits
}

/** The lists and resources that somebody may use under one scope. */
export class Reach {
  constructor(private readonly limits: readonly Limits[]) {}

  covers(kind: keyof Limits, name: unknown): boolean {
    const known = canonical(name)
    return (
      known !== undefined && this.limits.some((limits) => limits[kind].some((one) => matches(one, known)))
    )
  }
}

/**
 * Undefined: everything. The scopes of one role never meet the limits of another: who may change the lists of one team
 * and read those of two may not change those of the second.
 */
export function reachUnder(grants: readonly Grant[] | undefined, scope: Scope): Reach | undefined {
  const having = grants?.filter(({ scopes }) => scopes.has(scope))
  if (having === undefined || having.some(({ limits }) => limits === undefined)) return undefined
  return new Reach(having.map(({ limits }) => limits!))
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** As the guards spell it, so that another spelling of a name is not another name. */
function canonical(name: unknown): string | undefined {
  try {
    return plainName('name', name)
  } catch {
    return undefined
  }
}
