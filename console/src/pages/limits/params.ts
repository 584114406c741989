import { useParams } from 'wouter'

/** Parts of the address; wouter leaves `:` and `@` as they were encoded. */
export function useNames<Name extends string>(): Record<Name, string> {
  const params = useParams() as Record<Name, string>
  const names = Object.entries<string>(params).map(([name, value]) => [name, decoded(value)])
  return Object.fromEntries(names) as Record<Name, string>
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
