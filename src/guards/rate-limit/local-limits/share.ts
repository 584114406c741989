import type { Rule } from '../rule.js'

/** The part of a limit that one process may use by itself. Rounded down, so that n processes never use more than n parts. */
export function shareOf(rule: Rule, share: number): Rule {
  const capacity = Math.floor(rule.capacity * share)
  if (rule.algorithm !== 'token-bucket') return { ...rule, capacity }
  // The same units refill, but a token costs more of them.
  return { ...rule, capacity, unitsPerToken: Math.ceil(rule.unitsPerToken / share) }
}
