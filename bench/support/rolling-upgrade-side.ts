/**
 * One of the two versions of the proof `rolling-upgrade`: uses every guard, tells what it did, and looks at what the
 * other one did. It knows only what both versions have: the package's entry is given.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catraca, OpenOptions } from '../../src/app/open-catraca.js'
import { dieOfFailures } from './proof.js'
import type { Deed, SideAsked, SideSaid } from './rolling-upgrade-plan.js'
import {
  ADDRESS_DOMAIN,
  LIMITS,
  LIST,
  LOCK,
  OPERATION,
  RESOURCE,
  SPACE,
  TOKENS_UNTIL,
} from './rolling-upgrade-plan.js'

dieOfFailures()

const SEEN_WITHIN_MS = 30_000
const say = (message: SideSaid): void => void process.send!(message)
const deedsDone: Deed[] = []
let isOver = false
let catraca: Catraca
let side = ''

function tell(deed: Deed): void {
  deedsDone.push(deed)
  say({ type: 'deed', deed })
}

async function members(): Promise<void> {
  for (let i = 0; !isOver; i++) {
    const id = `${side}-${i}`
    const { token } = await catraca.allowlists.add(LIST, id)
    const stays = i % 4 !== 3
    tell({ kind: 'added', id, token, stays })
    if (!stays) {
      const removed = await catraca.allowlists.remove(LIST, id)
      tell({ kind: 'removed', id, token: removed.token })
    }
    await sleep(5)
  }
}

async function limits(): Promise<void> {
  for (let i = 0; !isOver; i++) {
    for (const limit of Object.keys(LIMITS)) {
      const asked = { entity: `of-${limit}`, resource: RESOURCE, consume: { [limit]: 1 } }
      const answer = await catraca.limits.acquire(asked)
      if (!answer.allowed) continue
      tell({ kind: 'acquired', limit })
      // Some are given back, by the leases of this version, and so may be taken again by either.
      if (i % 5 !== 4) continue
      await catraca.limits.giveBack(answer.leaseId)
      tell({ kind: 'given-back', limit })
    }
    await sleep(5)
  }
}

/** Both versions are asked to do the same: each is done once. */
async function idempotency(): Promise<void> {
  for (let i = 0; !isOver; i++) {
    const key = `request-${i}`
    const request = { operation: OPERATION, key, payload: { i }, waitMs: 5000 }
    const result = await catraca.idempotency.run(request, () => {
      tell({ kind: 'executed', key })
      return { by: side, i }
    })
    if (result.outcome !== 'executed' && result.outcome !== 'replayed')
      throw new Error(`${key}: ${JSON.stringify(result)}`)
    tell({ kind: 'answered', key, value: JSON.stringify(result.value) })
    await sleep(5)
  }
}

async function locks(): Promise<void> {
  while (!isOver) {
    await catraca.locks.withLock(LOCK, { ttlMs: 10_000, waitMs: 20_000 }, async ({ fence }) => {
      const from = process.hrtime.bigint()
      await sleep(3)
      tell({ kind: 'held', fence: fence!, fromNs: String(from), untilNs: String(process.hrtime.bigint()) })
    })
    await sleep(2)
  }
}

async function codesTokensCaches(): Promise<void> {
  const space = catraca.cache.space({ name: SPACE, ttlMs: 600_000 })
  for (let i = 0; !isOver; i++) {
    const address = `${side}-${i}${ADDRESS_DOMAIN}`
    const issued = await catraca.codes.issue({ channel: 'email', address })
    if (!('code' in issued) || issued.code === undefined) throw new Error(`no code for ${address}`)
    tell({ kind: 'code', address, code: issued.code })
    const jti = `${side}-${i}`
    await catraca.tokens.revoke({ jti, expiresAt: TOKENS_UNTIL })
    tell({ kind: 'revoked', jti })
    await space.set(`${side}-key`, i)
    tell({ kind: 'cached', key: `${side}-key`, value: i })
    await sleep(50)
  }
}

/** What the other version did is seen here. */
async function look(deed: Deed): Promise<void> {
  const { allowlists, codes, tokens, cache } = catraca
  if (deed.kind === 'added' || deed.kind === 'removed') {
    const { overallAllowed } = await allowlists.check(deed.id, [LIST], { atLeast: deed.token })
    if (overallAllowed && deed.kind === 'removed') throw new Error(`${deed.id} was removed, and is let in`)
    if (!overallAllowed && deed.kind === 'added' && deed.stays)
      throw new Error(`${deed.id} was added, and is denied`)
  } else if (deed.kind === 'code') {
    const { valid } = await codes.verify({ channel: 'email', address: deed.address, code: deed.code })
    if (!valid) throw new Error(`the code of ${deed.address} is refused`)
    const again = await codes.verify({ channel: 'email', address: deed.address, code: deed.code })
    if (again.valid) throw new Error(`the code of ${deed.address} works twice`)
  } else if (deed.kind === 'revoked') {
    await expectSoon(`${deed.jti} is revoked`, () => tokens.isRevoked({ jti: deed.jti }))
  } else if (deed.kind === 'cached') {
    const space = cache.space<number>({ name: SPACE, ttlMs: 600_000 })
    await expectSoon(
      `${deed.key} is ${deed.value} or later`,
      async () => ((await space.get(deed.key)) ?? -1) >= deed.value,
    )
  }
}

async function expectSoon(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + SEEN_WITHIN_MS
  while (!(await holds())) {
    if (Date.now() > endsAt) throw new Error(`${what}: not seen within ${SEEN_WITHIN_MS} ms`)
    await sleep(20)
  }
}

let looks = Promise.resolve()

process.on('message', async (message: SideAsked) => {
  if (message.type === 'open') {
    side = message.side
    const { openCatraca } = (await import(message.entry)) as {
      openCatraca: (options: OpenOptions) => Promise<Catraca>
    }
    catraca = await openCatraca(message.options)
    say({ type: 'opened' })
  } else if (message.type === 'deed') looks = looks.then(() => look(message.deed))
  else if (message.type === 'work') {
    const works = [members, limits, idempotency, locks, codesTokensCaches].map((work) => work())
    setTimeout(() => {
      isOver = true
    }, message.ms)
    await Promise.all(works)
    say({ type: 'worked', deeds: deedsDone.length })
  } else {
    await looks
    await catraca.close()
    say({ type: 'closed' })
    process.disconnect()
  }
})
