import type { Subject } from './types.js'

/**
 * An engine may store the limits of a subject in several parts. A part is a subject of its own to everything that
 * changes its state, also in leases. No resource contains a `#`.
 */
export const partOf = ({ entity, resource }: Subject, part: number): Subject => ({
  entity,
  resource: `${resource}#${part}`,
})

export function wholeOf({ entity, resource }: Subject): Subject {
  const end = resource.indexOf('#')
  return { entity, resource: end < 0 ? resource : resource.slice(0, end) }
}
