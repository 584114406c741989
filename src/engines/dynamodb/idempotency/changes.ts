import type { Claim, Completion } from '../../../guards/idempotency/port.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import { type Item, number, text } from '../client/attributes.js'
import type { PutInput, UpdateInput } from '../client/client.js'
import { all, Expression, when } from '../client/expression.js'
import { responseAttributes } from './items.js'
import { keyOf, moment, ttlOf } from './keys.js'
import { type Parts, partAttributes } from './parts.js'

/**
 * The requests that change a record. Times are compared as text, which works for records of this engine. Records of
 * other programs may have other formats. They have no `attempt` and are never changed by these requests.
 */

const IN_PROGRESS = text('IN_PROGRESS')
const ONE = number(1)

/**
 * Claims a record that is absent, FAILED, or IN_PROGRESS with an expired lease, if the record lives as long as the
 * lease. Everything else is refused, and decided from the returned item.
 */
export function claimUpdate(table: string, claim: Claim, now: number): UpdateInput {
  const { key, owner, requestHash, leaseMs, lifeMs, takesOver } = claim
  const e = new Expression()
  const leaseUntil = e.value(text(moment(now + leaseMs)))
  const expiresAt = now + Math.max(lifeMs, leaseMs)
  const [moved, hash, mine] = [e.value(text(moment(now))), e.value(text(requestHash)), e.value(text(owner))]
  const one = e.value(ONE)
  const unlessThere = (name: string, value: string) =>
    `${e.name(name)} = if_not_exists(${e.name(name)}, ${value})`
  const isFailed = e.equals('status', text('FAILED'))
  const inProgress = e.value(IN_PROGRESS)
  const isPassed = `${e.name('status')} = ${inProgress} AND ${e.name('leaseUntil')} <= ${moved} AND ${e.name('owner')} <> ${mine}`
  return {
    TableName: table,
    Key: keyOf(key),
    UpdateExpression: `SET ${[
      `${e.name('operationType')} = ${e.value(text(key.operation))}`,
      `${e.name('idempotencyKey')} = ${e.value(text(key.key))}`,
      `${e.name('status')} = ${inProgress}`,
      `${e.name('requestHash')} = ${hash}`,
      unlessThere('createdAt', moved),
      `${e.name('updatedAt')} = ${moved}`,
      unlessThere('expiresAt', e.value(text(moment(expiresAt)))),
      unlessThere('ttl', e.value(number(ttlOf(expiresAt)))),
      `${e.name('attempt')} = if_not_exists(${e.name('attempt')}, ${e.value(number(0))}) + ${one}`,
      `${e.name('owner')} = ${mine}`,
      `${e.name('leaseUntil')} = ${leaseUntil}`,
      ...(takesOver ? [] : [`${e.name('onLeaseExpired')} = ${e.value(text('unknown'))}`]),
    ].join(', ')} REMOVE ${e.name('error')}`,
    ConditionExpression: `${e.absent('pk')} OR (${all(
      e.exists('attempt'),
      `${e.name('expiresAt')} >= ${leaseUntil}`,
      `${e.name('requestHash')} = ${hash}`,
      takesOver ? `(${isFailed}) OR (${isPassed} AND ${e.absent('onLeaseExpired')})` : isFailed,
    )})`,
    ReturnValues: 'ALL_NEW',
    ...e.parts(),
  }
}

/** Replaces a record that is unchanged since it was read, or still absent. */
export function replacement(table: string, item: Item, seen: Item | undefined): PutInput {
  const marks = ['status', 'owner', 'attempt', 'leaseUntil', 'updatedAt', 'expiresAt', 'requestHash']
  const isAsSeen = when((e) =>
    seen === undefined
      ? e.absent('pk')
      : all(e.exists('pk'), ...marks.map((name) => e.equals(name, seen[name]))),
  )
  return { TableName: table, Item: item, ...isAsSeen }
}

/** Condition: the owner holds the record and it has not expired. */
function owned(e: Expression, owner: string, now: number): string {
  const isLive = `${e.name('expiresAt')} > ${e.value(text(moment(now)))}`
  return all(e.equals('owner', text(owner)), e.equals('status', IN_PROGRESS), isLive)
}

function ownerUpdate(
  table: string,
  key: RecordKey,
  owner: string,
  now: number,
  { set, remove = [], also }: { set: Item; remove?: string[]; also?: (e: Expression) => string },
): UpdateInput {
  const e = new Expression().set({ ...set, updatedAt: text(moment(now)) }).remove(...remove)
  e.when(owned(e, owner, now), also?.(e))
  return { TableName: table, Key: keyOf(key), ...e.update() }
}

export function completeUpdate(
  table: string,
  key: RecordKey,
  owner: string,
  { response, omittedBytes, parts }: Completion & { parts?: Parts },
  now: number,
): UpdateInput {
  const set: Item = {
    status: text('COMPLETED'),
    ...(parts !== undefined ? partAttributes(parts) : response !== undefined && responseAttributes(response)),
    ...(omittedBytes !== undefined && { omittedBytes: number(omittedBytes) }),
  }
  return ownerUpdate(table, key, owner, now, { set, remove: ['leaseUntil'] })
}

export function failUpdate(
  table: string,
  key: RecordKey,
  owner: string,
  error: string | undefined,
  now: number,
): UpdateInput {
  const set: Item = { status: text('FAILED'), ...(error !== undefined && { error: text(error) }) }
  return ownerUpdate(table, key, owner, now, { set, remove: ['leaseUntil'] })
}

/** Only if the record lives as long as the lease; otherwise `expiresAt` must be moved too. */
export function extendUpdate(
  table: string,
  key: RecordKey,
  owner: string,
  leaseUntil: number,
  movesEnd: boolean,
  now: number,
): UpdateInput {
  const until = text(moment(leaseUntil))
  const end: Item = movesEnd ? { expiresAt: until, ttl: number(ttlOf(leaseUntil)) } : {}
  const also = (e: Expression) => `${e.name('expiresAt')} ${movesEnd ? '<' : '>='} ${e.value(until)}`
  return ownerUpdate(table, key, owner, now, { set: { leaseUntil: until, ...end }, also })
}

/** For a first attempt, which leaves no record. */
export function releaseDelete(table: string, key: RecordKey, owner: string, now: number) {
  const isFirst = when((e) => all(owned(e, owner, now), e.equals('attempt', ONE)))
  return { TableName: table, Key: keyOf(key), ...isFirst }
}
