import { useParams } from 'wouter'

/** Parameters of the path; wouter leaves `:` and `@` percent-encoded. */
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
