import { DEFAULT_MEMBERSHIP } from '../../guards/allowlist/membership/options.js'
import type { LoadFlags } from '../commands/bench.js'
import type { Target } from '../commands/support/target.js'
import { customersOf, MAX_CUSTOMERS, numberedCustomers } from './customers.js'
import { CONFIRMED_SHARE } from './mixes/checks.js'

const LEAST = 100_000
const MOST = 1_000_000
/** What a server keeps of a confirmation, in seconds, and a little more. */
const REMEMBERED_S = (1.25 * DEFAULT_MEMBERSHIP.verificationTtlMs) / 1000
/** How far `--find-max` is expected to get. */
const FOUND_RATE = 40_000
const FOUND_FACTOR = 4

/** So many that whoever was confirmed comes back only when that is forgotten. */
export function membersFor({ rate, ramp, findMax }: Pick<LoadFlags, 'rate' | 'ramp' | 'findMax'>): number {
  const highest = ramp?.to ?? (findMax ? Math.max(FOUND_FACTOR * rate, FOUND_RATE) : rate)
  return Math.min(MOST, Math.max(LEAST, Math.ceil(highest * CONFIRMED_SHARE * REMEMBERED_S)))
}

/** Who is on the lists: as a file names them, or by number, as many as were asked for, are needed or are there. */
export async function membersOf(
  flags: LoadFlags,
  target: Target,
  lists: readonly string[],
): Promise<string[]> {
  if (flags.prepare === true) return numberedCustomers(flags.members ?? membersFor(flags))
  const named = flags.customers === undefined ? undefined : customersOf(flags.customers)
  // A list that is not there would be answered quickly, and prove nothing.
  const found = await Promise.all(lists.map((id) => target.allowlists.get(id)))
  if (named !== undefined) return named
  if (flags.members !== undefined) return numberedCustomers(flags.members)
  const least = Math.min(...found.map(({ customerCount }) => customerCount))
  return numberedCustomers(Math.min(MAX_CUSTOMERS, Math.max(2, least)))
}
