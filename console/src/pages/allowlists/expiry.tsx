import { serverNow } from '../../api/server-clock.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'

/** From its time on a member is not on the list any more, although it is swept only later. */
export const isExpired = (at: string | undefined): boolean =>
  at !== undefined && Date.parse(at) <= serverNow()

/** Until when a customer is on a list. */
export function Expiry({ at }: { at: string | undefined }) {
  const { allowlists } = useTexts()
  const texts = allowlists.members
  if (at === undefined) return <span className="detail">{texts.never}</span>
  return (
    <span className="tags">
      <Time value={at} />
      {isExpired(at) && <State kind="bad">{texts.expired}</State>}
    </span>
  )
}
