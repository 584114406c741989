import { createHash } from 'node:crypto'
import { type MaybePromise, whenReady } from '../../core/maybe-promise.js'
import type { FlagAnswer } from '../../guards/allowlist/flags/flag.js'
import type { Flags } from '../../guards/allowlist/flags/flags.js'
import type { ExposedFlags } from './exposed.js'

export interface Bulk {
  flags: FlagAnswer[]
  etag: string
}

/** Evaluates all exposed flags for one customer. Throws `WrongContext`. */
export function evaluateBulk(flags: Flags, exposed: ExposedFlags, context: unknown): MaybePromise<Bulk> {
  return whenReady(exposed.all(), (ids) =>
    whenReady(flags.evaluateAll(ids, context), (answers) => ({
      flags: answers,
      etag: etagOf(context, answers),
    })),
  )
}

/**
 * Covers the context too: clients send the ETag of a former context with another one, and to 304 they would go on with
 * the flags of the former.
 */
function etagOf(context: unknown, flags: readonly FlagAnswer[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([context, flags]))
    .digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** `If-None-Match` may name several, and weak ones. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some((given) => given.trim().replace(/^W\//, '') === etag)
}
