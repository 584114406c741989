import { type Address, nameOf } from './address.js'

/** The answer of one Sentinel. */
export interface View {
  address: Address
  /** Every failover increases it, so the highest one is the newest. */
  epoch: number
}

export const isSame = (one: Address, other: Address | undefined): boolean =>
  other !== undefined && one.host === other.host && one.port === other.port

/**
 * The master that the Sentinels name. A Sentinel that led a failover, and has not finished when the next one begins,
 * may name the old master with the new epoch. So within an epoch the majority decides, and a tie keeps the current
 * master.
 */
export function masterOf(views: readonly View[], named: Address | undefined): Address | undefined {
  const newest = Math.max(...views.map(({ epoch }) => epoch))
  const votes = new Map<string, { address: Address; count: number }>()
  for (const { address, epoch } of views) {
    if (epoch !== newest) continue
    const known = votes.get(nameOf(address))
    if (known === undefined) votes.set(nameOf(address), { address, count: 1 })
    else known.count++
  }
  let best: { address: Address; count: number } | undefined
  for (const vote of votes.values()) {
    const wins =
      best === undefined ||
      vote.count > best.count ||
      (vote.count === best.count && isSame(vote.address, named))
    if (wins) best = vote
  }
  return best?.address
}
