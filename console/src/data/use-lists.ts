import { useEffect, useState } from 'react'
import { type Allowlist, api } from '../api/client.js'
import { useQuery } from './use-query.js'

const FOUND = 20
const TYPING_MS = 200

/** The lists whose name or id contains what is typed. The server searches, because there may be thousands of them. */
export function useLists(typed: string, enabled = true): Allowlist[] {
  const search = useTyped(typed)
  const { data } = useQuery(
    `lists ${search}`,
    (signal) => api.listAllowlists({ search: search || undefined, sort: 'name', limit: FOUND }, { signal }),
    { keepPrevious: true, enabled },
  )
  return data?.items ?? []
}

/** What is typed, once typing pauses. */
export function useTyped(typed: string): string {
  const [search, setSearch] = useState(typed.trim())
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return search
}

/** Mantine must not filter again what the server has found. */
export const asFound = ({ options }: { options: unknown }): never => options as never
