import type { WaveConfig } from '../guards/allowlist/types.js'

/** The lists and resources that a request is about. */
export interface Targets {
  readonly lists?: readonly unknown[]
  readonly resources?: readonly unknown[]
}

/** A request after its validation. */
interface Parts {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * How callers whose roles are limited to some lists or resources may use an operation. A function finds what the request
 * is about, all of which the roles must cover. `filtered`: the handler leaves out what they do not cover. `no-target`: the
 * operation shows nothing of any list or resource. An operation that says nothing is closed to them.
 */
export type OperationReach = 'filtered' | 'no-target' | ((parts: Parts) => Targets)

type Fields = Readonly<Record<string, unknown>>

export const listInPath: OperationReach = ({ params }) => ({ lists: [(params as Fields).id] })
export const flagInPath: OperationReach = ({ params }) => ({ lists: [(params as Fields).key] })
export const listsInQuery: OperationReach = ({ query }) => ({
  lists: (query as { allowlists: [] }).allowlists,
})
export const listsInBody: OperationReach = ({ body }) => ({ lists: (body as { allowlists: [] }).allowlists })
export const resourceInPath: OperationReach = ({ params }) => ({ resources: [(params as Fields).resource] })
export const resourceInQuery: OperationReach = ({ query }) => ({ resources: [(query as Fields).resource] })
export const resourceInBody: OperationReach = ({ body }) => ({ resources: [(body as Fields).resource] })

export const resourcesInChanges: OperationReach = ({ body }) => ({
  resources: (body as { changes: Fields[] }).changes.map(({ resource }) => resource),
})

interface Rule {
  readonly config?: WaveConfig
}

/** A wave also tells of the lists that it refers to: who passes it shows who is on them. */
const listsOf = (id: unknown, { config }: Rule = {}): readonly unknown[] => [
  id,
  ...(config?.base === undefined ? [] : [config.base]),
  ...(config?.exclude ?? []),
]

export const listAndRule: OperationReach = ({ params, body }) => {
  const given = body as Rule & { id?: unknown }
  return { lists: listsOf((params as Fields | undefined)?.id ?? given.id, given) }
}

export const listsInChanges: OperationReach = ({ body }) => ({
  lists: (body as { changes: { id: unknown; list?: Rule }[] }).changes.flatMap(({ id, list }) =>
    listsOf(id, list),
  ),
})
