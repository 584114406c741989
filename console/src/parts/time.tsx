import { useFormat } from '../texts/language.js'

/** A time in the user's zone; the title has it in UTC. */
export function Time({ value, ago = false }: { value: string | number; ago?: boolean }) {
  const format = useFormat()
  const utc = new Date(value).toISOString()
  return (
    <time dateTime={utc} title={utc}>
      {ago ? format.ago(value) : format.dateTime(value)}
    </time>
  )
}
