import { api } from '../api/client.js'
import { useQuery } from './use-query.js'

/** At most so many lists are asked for at once. */
const MAX_ASKED = 25
const NONE: ReadonlyMap<string, string> = new Map()

/** Names of lists by id, for sentences that know only ids. Lists that are gone have none. */
export function useListNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const wanted = [...new Set(ids)].slice(0, MAX_ASKED)
  const { data } = useQuery(
    `names ${wanted.join(' ')}`,
    async (signal) => {
      const read = await Promise.allSettled(wanted.map((id) => api.getAllowlist({ id }, { signal })))
      return new Map(
        read.flatMap((one) => (one.status === 'fulfilled' ? [[one.value.id, one.value.name] as const] : [])),
      )
    },
    { enabled: wanted.length > 0, keepPrevious: true },
  )
  return data ?? NONE
}
