import type { CheckAnswer, CheckResult } from '../../allowlist/types.js'

/**
 * A check answer as JSON. Every string in it is an identifier, a time or a constant, and none of these holds a
 * character that JSON escapes or that is not ASCII, so the parts are simply joined.
 */
export function answerJson({ customerId, results, overallAllowed }: CheckAnswer): string {
  let json = `{"customerId":"${customerId}","results":[`
  for (let i = 0; i < results.length; i++)
    json += i === 0 ? resultJson(results[i]!) : `,${resultJson(results[i]!)}`
  return `${json}],"overallAllowed":${overallAllowed}}`
}

function resultJson({ allowlistId, allowed, type, reason, checkedAt, addedAt }: CheckResult): string {
  const typeJson = type === null ? 'null' : `"${type}"`
  const end = addedAt === undefined ? '}' : `,"addedAt":"${addedAt}"}`
  return `{"allowlistId":"${allowlistId}","allowed":${allowed},"type":${typeJson},"reason":"${reason}","checkedAt":"${checkedAt}"${end}`
}
