import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { customers } from '../../src/conformance/support.js'
import { statusOf } from './kill-imports.js'
import { LEASE_MS } from './kill-process.js'
import { agreedMembers, demand, pagedMembers, sameSet } from './proof.js'
import { fixa, type Stage, startVictim } from './victim.js'

const LIST = 'replaced'
const ADDED_BY_HAND = 'added-by-hand'
const BEGIN_TIMEOUT_MS = 5000

/** Killed while it replaces: the list is the old one or the new one, and the replace can be done again. */
export async function killReplacing(
  stage: Stage,
  round: number,
  size: number,
  isLast: boolean,
): Promise<void> {
  if (round === 0) await prepareReplaced(stage, size)
  const old = new Set(await pagedMembers(stage.catraca.allowlists, LIST))
  const scene = new Replacing(stage, round, size, old)
  const now = await scene.kill()
  const isSettled = isLast || Math.random() < 0.5
  if (isSettled) await scene.settle(now)
  // Otherwise left as it is, in the end or for the next replace to find.
  if (!isLast && Math.random() < 0.7) await scene.doAgain()
}

/** Fills the list by a replace that nobody disturbs, to know how long one takes. */
async function prepareReplaced(stage: Stage, size: number): Promise<void> {
  await fixa(stage, LIST)
  const scene = new Replacing(stage, -1, size, new Set())
  await scene.doAgain()
}

class Replacing {
  private readonly next: Set<string>
  private readonly importId: string
  private readonly order
  private readonly universe: string[]
  private isNew = false

  constructor(
    private readonly stage: Stage,
    private readonly round: number,
    private readonly size: number,
    private readonly old: Set<string>,
  ) {
    // Half of the list stays, and as many customers are new.
    const first = (round + 1) * Math.floor(size / 2)
    this.next = new Set(customers(first, first + size))
    this.universe = [...customers(0, first + size), ADDED_BY_HAND]
    this.importId = `replace-${round}`
    const file = join(stage.files, `${this.importId}.csv`)
    writeFileSync(file, `customerId\n${[...this.next].join('\n')}\n`)
    this.order = { work: 'import', listId: LIST, file, importId: this.importId, mode: 'replace' } as const
  }

  private members(): Promise<Set<string>> {
    return agreedMembers(this.stage.catraca, LIST, this.universe)
  }

  async kill(): Promise<Set<string>> {
    // What is changed by hand once the replace has begun holds, whatever becomes of the replace.
    const file = [...this.next]
    const [old, next] = [this.old, new Set(file)]
    const begun = async () => {
      if (!(await this.hasBegun()) || this.round % 2 === 0) return
      const toRemove = file.find((id) => old.has(id))
      await this.changeByHand(toRemove)
      for (const members of [old, next]) {
        members.add(ADDED_BY_HAND)
        if (toRemove !== undefined) members.delete(toRemove)
      }
    }
    const killAfterMs = Math.random() * this.stage.replaceMs
    const { killed } = await startVictim(this.stage.directory, this.order, killAfterMs, begun)
    if (killed) this.stage.kills++
    const now = await this.members()
    this.isNew = sameSet(now, next)
    demand(this.isNew || sameSet(now, old), `${LIST}: neither the old nor the new list after a kill`)
    await this.demandStatus()
    if (killed && !this.isNew) this.stage.undone++
    return now
  }

  private async hasBegun(): Promise<boolean> {
    const giveUpAt = Date.now() + BEGIN_TIMEOUT_MS
    while ((await statusOf(this.stage, LIST, this.importId)) === undefined) {
      if (Date.now() > giveUpAt) return false
      await sleep(2)
    }
    return true
  }

  private async changeByHand(toRemove: string | undefined): Promise<void> {
    const { allowlists } = this.stage.catraca
    await allowlists.add(LIST, ADDED_BY_HAND)
    if (toRemove !== undefined) await allowlists.remove(LIST, toRemove)
  }

  private async demandStatus(): Promise<void> {
    const { isNew, size } = this
    const status = await statusOf(this.stage, LIST, this.importId)
    const isCompleted = status?.state === 'completed'
    demand(isCompleted === isNew, `${LIST}: switched ${isNew}, but ${this.importId} is ${status?.state}`)
    const acknowledged = status?.rowsAcknowledged ?? 0
    demand(
      acknowledged === (isNew ? size : 0),
      `${LIST}: ${acknowledged} of ${size} rows acknowledged, although switched is ${isNew}`,
    )
  }

  /** Once the lease of the dead is over, upkeep undoes what it began; nobody may see any of that. */
  async settle(members: Set<string>): Promise<void> {
    await sleep(LEASE_MS)
    await this.stage.catraca.upkeep()
    demand(sameSet(await this.members(), members), `${LIST}: upkeep changed what is seen`)
  }

  async doAgain(): Promise<void> {
    const before = await this.members()
    let begunAt = Number.NaN
    await startVictim(this.stage.directory, this.order, undefined, async () => {
      await this.hasBegun()
      begunAt = performance.now()
    })
    if (!this.isNew) this.stage.replaceMs = performance.now() - begunAt
    // Begun anew, the replace comes after what was changed by hand; already done, it changes nothing.
    const expected = this.isNew ? before : this.next
    demand(sameSet(await this.members(), expected), `${LIST}: done again, the replace left other members`)
  }
}
