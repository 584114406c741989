import type { CheckAnswer, CheckResult } from '../../guards/allowlist/types.js'

/**
 * The result of a check as JSON. Every string in it is an identifier, a time or a constant. None of these has a
 * character that JSON escapes, or that is not ASCII, so the parts are concatenated.
 */
export function answerJson({ customerId, results, overallAllowed, degraded, asOf }: CheckAnswer): string {
  let json = `{"customerId":"${customerId}","results":[`
  for (let i = 0; i < results.length; i++)
    json += i === 0 ? resultJson(results[i]!) : `,${resultJson(results[i]!)}`
  return `${json}],"overallAllowed":${overallAllowed}${degraded ? degradedEnd(asOf) : '}'}`
}

function resultJson(result: CheckResult): string {
  const { allowlistId, allowed, type, reason, checkedAt, addedAt, degraded, asOf } = result
  const typeJson = type === null ? 'null' : `"${type}"`
  const added = addedAt === undefined ? '' : `,"addedAt":"${addedAt}"`
  const end = degraded ? added + degradedEnd(asOf) : `${added}}`
  return `{"allowlistId":"${allowlistId}","allowed":${allowed},"type":${typeJson},"reason":"${reason}","checkedAt":"${checkedAt}"${end}`
}

const degradedEnd = (asOf: string | undefined): string =>
  asOf === undefined ? ',"degraded":true}' : `,"degraded":true,"asOf":"${asOf}"}`
