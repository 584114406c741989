/**
 * A pod of the proofs on Redis: answers from memory, and follows the log of list `a` a second time on its own, to note
 * when each change arrived. Argument: the store URL.
 */

import { openCatraca } from '../../src/app/open-catraca.js'
import { openEngine, storeSource } from '../../src/engines/registry.js'
import { readEntry } from '../../src/guards/allowlist/changes/entry.js'
import { type Followed, Follower } from '../../src/guards/allowlist/changes/follower.js'
import type { LogPosition } from '../../src/guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../src/guards/allowlist/customer-key.js'
import { dieOfFailures } from './proof.js'
import type { Asked } from './timed-changes.js'

export type ToPod = { type: 'ask'; asked: Asked[] } | { type: 'end'; changes: number }

export type FromPod =
  | { type: 'ready' }
  | {
      type: 'ended'
      /** Changes in the order of the log, as `+id` or `-id`, each with the moment of its arrival. */
      changes: string[]
      arrivedAtMs: number[]
      tokenChecks: number
      missed: number
      fromMemory: number
      fromStore: number
    }

dieOfFailures()
const store = process.argv[2]!
const catraca = await openCatraca({ store, sweepIntervalMs: 0, membership: { build: 'off' } })
const engine = await openEngine(storeSource(store, {}))
const { incarnation } = (await engine.allowlists.lists.get('a'))!
const list = { id: 'a', incarnation }

class Recorder implements Followed {
  readonly list = list
  behind = false
  freshAtMs = 0
  readonly changes: string[] = []
  readonly arrivedAtMs: number[] = []

  constructor(readonly position: LogPosition[]) {}

  apply({ bytes }: { bytes: Uint8Array }): void {
    const at = performance.timeOrigin + performance.now()
    const note = (sign: string) => (key: Uint8Array, start: number, end: number) => {
      this.changes.push(sign + readCustomerKey(key, start, end))
      this.arrivedAtMs.push(at)
    }
    readEntry(bytes, { added: note('+'), removed: note('-') })
  }

  lost(): void {
    throw new Error('the log has a gap')
  }
}

const recorder = new Recorder([...(await engine.allowlists.changes.position(list))!])
const follower = new Follower(engine.allowlists.changes, 1000, (error) => {
  throw error
})
follower.add(recorder)

let tokenChecks = 0
let missed = 0
let asking: Promise<void> = Promise.resolve()

async function ask(asked: Asked[]): Promise<void> {
  for (const { id, removed, token } of asked) {
    const { results } = await catraca.allowlists.check(id, ['a'], { atLeast: token })
    tokenChecks++
    if (results[0]!.allowed === removed) missed++
  }
}

async function end(changes: number): Promise<void> {
  const giveUp = Date.now() + 30_000
  while (recorder.changes.length < changes && Date.now() < giveUp)
    await new Promise((resolve) => setTimeout(resolve, 20))
  await asking
  const { filtered, overlay, trusted, confirmed, store: asked } = catraca.stats().checks
  const told: FromPod = {
    type: 'ended',
    changes: recorder.changes,
    arrivedAtMs: recorder.arrivedAtMs,
    tokenChecks,
    missed,
    fromMemory: filtered + overlay + trusted,
    fromStore: confirmed + asked,
  }
  await new Promise((resolve) => process.send!(told, resolve))
  follower.close()
  await engine.close()
  await catraca.close()
  process.disconnect()
}

process.on('message', (message: ToPod) => {
  if (message.type === 'ask') asking = asking.then(() => ask(message.asked))
  else void end(message.changes)
})

// The image is loaded by the first check of the list.
await catraca.allowlists.check('anybody', ['a'])
while ((await catraca.allowlists.index('a')).state !== 'loaded')
  await new Promise((resolve) => setTimeout(resolve, 10))
process.send!({ type: 'ready' } satisfies FromPod)
