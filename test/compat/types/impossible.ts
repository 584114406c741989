// What must not compile: every line below `@ts-expect-error` would be refused when it runs, or do something else than it
// says. Compiled, not run.
import { type Catraca, isCatracaError, typedJson } from 'catraca'

export async function refused(catraca: Catraca, error: unknown): Promise<void> {
  const request = { operation: 'PAY', key: 'one' }
  const work = async (): Promise<number> => 1
  await catraca.idempotency.run({ ...request, payload: { a: 1 } }, work)
  await catraca.idempotency.run({ ...request, requestHash: 'ab' }, work)
  // @ts-expect-error a payload or its hash, not both
  await catraca.idempotency.run({ ...request, payload: 1, requestHash: 'ab' }, work)

  await catraca.tokens.isRevoked({ jti: 'one' })
  await catraca.tokens.isRevoked({ subject: 'ann' })
  // @ts-expect-error it asks about nothing
  await catraca.tokens.isRevoked({})
  // @ts-expect-error the time alone says nothing
  await catraca.tokens.isRevoked({ issuedAt: new Date() })

  if (isCatracaError(error, 'LOCK_HELD')) {
    const code: 'LOCK_HELD' = error.code
    const waitMs: number = error.facts.retryAfterMs
    console.log(code, waitMs)
    // @ts-expect-error an error of this code has no such fact
    console.log(error.facts.command.length)
  }
  if (isCatracaError(error, 'QUOTA_EXCEEDED')) {
    const limits: string[] = error.facts['violated-policies']
    console.log(limits, error.facts.retryAfterMs)
  }
  if (isCatracaError(error)) {
    // @ts-expect-error errors of most codes have no facts
    console.log(error.facts.retryAfterMs)
    // @ts-expect-error there is no such code
    console.log(error.code === 'LOCK_TAKEN')
  }
}

interface Payment {
  id: string
  note?: string
  paidAt: Date
  lines: { cents: number; at: Date }[]
}

export async function replays(catraca: Catraca, payment: Payment): Promise<void> {
  const result = await catraca.idempotency.run({ operation: 'PAY', key: 'one' }, async () => payment)
  if (result.outcome === 'executed') {
    const paidAt: Date = result.value.paidAt
    console.log(paidAt)
  }
  if (result.outcome === 'replayed') {
    const {
      id,
      note,
      paidAt,
      lines,
    }: { id: string; note?: string; paidAt: string; lines: { at: string }[] } = result.value
    console.log(id, note, paidAt, lines)
    // @ts-expect-error an answer that was stored has a text where the first had a Date
    console.log(result.value.paidAt.getTime())
    // @ts-expect-error in depth too
    console.log(result.value.lines[0]?.at.getTime())
  }
  // Plain values stay what they are.
  const plain = await catraca.idempotency.run({ operation: 'PAY', key: 'two' }, () => ({ ok: true as const }))
  if (plain.outcome === 'replayed') {
    const ok: true = plain.value.ok
    console.log(ok)
  }
}

export async function spaces({ cache }: Catraca): Promise<void> {
  const plain = cache.space<{ id: string; tags?: readonly string[] }>({ name: 'plain', ttlMs: 1000 })
  const id: string | undefined = (await plain.get('one'))?.id
  cache.space<Payment>({ name: 'payments', ttlMs: 1000, codec: typedJson })
  cache.space<Map<string, number>>({ name: 'maps', ttlMs: 1000, codec: typedJson })
  cache.space({ name: 'unknown', ttlMs: 1000 })
  // @ts-expect-error JSON would make a text of the Date
  cache.space<Date>({ name: 'dates', ttlMs: 1000 })
  // @ts-expect-error in depth too
  cache.space<Payment>({ name: 'payments', ttlMs: 1000 })
  // @ts-expect-error JSON would lose the entries
  cache.space<Map<string, number>>({ name: 'maps', ttlMs: 1000 })
  // @ts-expect-error JSON cannot write it
  cache.space<bigint>({ name: 'integers', ttlMs: 1000 })
  console.log(id)
}

export async function limits({ limits }: Catraca): Promise<void> {
  const config = { limits: { rpm: { capacity: 10 } } }
  await limits.setConfig({ level: 'system', resource: 'api' }, config)
  await limits.setConfig({ level: 'entity', entity: 'ann', resource: 'api' }, config)
  // @ts-expect-error the system level has no entity
  await limits.setConfig({ level: 'system', entity: 'ann', resource: 'api' }, config)
  // @ts-expect-error the resource level has no entity
  await limits.setConfig({ level: 'resource', entity: 'ann', resource: 'api' }, config)
  // @ts-expect-error the entity level needs one
  await limits.setConfig({ level: 'entity', resource: 'api' }, config)
  // @ts-expect-error there is no such level
  await limits.setConfig({ level: 'tenant', resource: 'api' }, config)

  const subject = { entity: 'ann', resource: 'api' }
  const window = { capacity: 10, refillPeriodSeconds: 60, algorithm: 'fixed-window' } as const
  await limits.acquire({ ...subject, limits: { rpm: window } })
  await limits.acquire({ ...subject, limits: { rpm: { capacity: 10, burst: 20, refillPeriodSeconds: 60 } } })
  await limits.acquire({ ...subject, limits: { rpm: { burst: 20 } } })
  // @ts-expect-error a window admits its capacity, no burst
  await limits.acquire({ ...subject, limits: { rpm: { ...window, burst: 20 } } })
  // @ts-expect-error nor do concurrent calls
  await limits.acquire({ ...subject, limits: { rpm: { capacity: 5, burst: 9, algorithm: 'concurrency' } } })
}
