import type { Catraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { CheckResult } from '../../src/guards/allowlist/types.js'
import { demand, lines, pick } from './proof.js'

/** What the model knows of a customer; not settled while a change of it is on its way. */
type State = { member: boolean; expiresAt?: number } | 'unsettled'

const ABSENT: State = { member: false }
const MEMBER: State = { member: true }
/** Each kind of work has customers of its own, so that the model always knows what must come out. */
const RANGE = 2000
const SETS = 3
const MAX_LIFE_MS = 400
const MORTALS_WATCHED = 20

const idIn = (range: number, i: number): string => customer(1_000_000 * (range + 1) + i)
const anyIn = (range: number): string => idIn(range, Math.floor(Math.random() * RANGE))

/** Works on the lists in several ways at once, and holds every answer against a model in memory. */
export class SoakWork {
  private readonly members = new Map<string, State>()
  private readonly waves = new Map<string, boolean>()
  private readonly sets: Set<string>[]
  private current = 0
  private pending: { set: number; seen: boolean } | undefined
  private churned: boolean | 'unsettled' = false
  private churnMember = ''
  /** Those added for a while last. */
  private readonly mortal: string[] = []

  constructor(
    private readonly catraca: Catraca,
    setSize: number,
  ) {
    // Neighbouring sets share half of their customers.
    this.sets = Array.from(
      { length: SETS },
      (_, set) => new Set(Array.from({ length: setSize }, (_, i) => idIn(3, i + (set * setSize) / 2))),
    )
  }

  async prepare(): Promise<void> {
    const { allowlists } = this.catraca
    for (const id of ['members', 'replaced']) await allowlists.create({ id, name: id, type: 'FIXA' })
    const half = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config: half })
    const all = { strategy: 'PERCENTAGE', percentage: 1, base: 'members' } as const
    await allowlists.create({ id: 'follow', name: 'Follow', type: 'ONDA', config: all })
    await allowlists.import('replaced', lines([...this.sets[0]!]), { format: 'text' })
  }

  /** One check of everything about one customer. */
  async check(): Promise<void> {
    const id = pick([() => anyIn(0), () => this.anyMortal(), () => anyIn(2), () => this.anyOfSets()])()
    await this.expect(id)
  }

  /** Mostly one whose time is running out about now: there the answer is hardest. */
  private anyMortal(): string {
    return this.mortal.length > 0 && Math.random() < 0.8 ? pick(this.mortal) : anyIn(1)
  }

  private anyOfSets(): string {
    return idIn(3, Math.floor(Math.random() * this.sets[0]!.size * (1 + (SETS - 1) / 2)))
  }

  private async expect(id: string): Promise<void> {
    const { results } = await this.catraca.allowlists.check(id, [
      'members',
      'wave',
      'follow',
      'replaced',
      'churn',
    ])
    const [member, wave, follow, replaced, churn] = results as [
      CheckResult,
      CheckResult,
      CheckResult,
      CheckResult,
      CheckResult,
    ]
    this.judgeMember(id, member)
    demand(
      follow.allowed === member.allowed,
      `${id}: the wave on members says ${follow.reason}, they ${member.reason}`,
    )
    demand((this.waves.get(id) ?? wave.allowed) === wave.allowed, `${id} changed its place in the wave`)
    this.waves.set(id, wave.allowed)
    this.judgeReplaced(id, replaced)
    this.judgeChurn(id, churn)
  }

  private judgeMember(id: string, { allowed, reason, checkedAt }: CheckResult): void {
    const state = this.members.get(id) ?? ABSENT
    if (state === 'unsettled') return
    const expected = state.member && (state.expiresAt ?? Infinity) > Date.parse(checkedAt)
    demand(
      allowed === expected,
      `${id}: ${reason} at ${checkedAt}, but the model has ${JSON.stringify(state)}`,
    )
  }

  private judgeReplaced(id: string, { allowed, reason }: CheckResult): void {
    const before = this.sets[this.current]!.has(id)
    if (this.pending === undefined) {
      demand(allowed === before, `${id}: ${reason} in a list that nobody is replacing`)
      return
    }
    const after = this.sets[this.pending.set]!.has(id)
    if (before === after) demand(allowed === before, `${id}: ${reason} though old and new list agree`)
    else if (allowed === after) this.pending.seen = true
    else demand(!this.pending.seen, `${id}: the old list again, after the new one was seen`)
  }

  private judgeChurn(id: string, { reason }: CheckResult): void {
    if (this.churned === 'unsettled') return
    const expected = this.churned
      ? id === this.churnMember
        ? 'MEMBER'
        : 'NOT_MEMBER'
      : 'ALLOWLIST_NOT_FOUND'
    demand(reason === expected, `${id}: ${reason} in a list that should say ${expected}`)
  }

  /** Changes customers of the members list, then sees at once that it is so. */
  private async change(ids: string[], state: State, work: () => Promise<unknown>): Promise<void> {
    const same = (id: string) => JSON.stringify(this.members.get(id) ?? ABSENT) === JSON.stringify(state)
    for (const id of ids) if (!same(id)) this.members.set(id, 'unsettled')
    await work()
    for (const id of ids) this.members.set(id, state)
    for (const id of ids.slice(0, 20)) await this.expect(id)
  }

  /** The kinds of work; each is to be done one at a time, all of them beside each other. */
  readonly lanes = {
    addOrRemove: async (): Promise<void> => {
      const id = anyIn(0)
      const { allowlists } = this.catraca
      if (Math.random() < 0.5) return this.change([id], MEMBER, () => allowlists.add('members', id))
      await this.change([id], ABSENT, () => allowlists.remove('members', id))
    },

    addForAWhile: async (): Promise<void> => {
      const id = anyIn(1)
      const expiresAt = Date.now() + Math.ceil(Math.random() * MAX_LIFE_MS)
      const input = { expiresAt: new Date(expiresAt).toISOString() }
      if (this.mortal.push(id) > MORTALS_WATCHED) this.mortal.shift()
      await this.change([id], { member: true, expiresAt }, () =>
        this.catraca.allowlists.add('members', id, input),
      )
    },

    importAndRemove: async (): Promise<void> => {
      const { allowlists } = this.catraca
      const ids = Array.from({ length: RANGE }, (_, i) => idIn(2, i)).filter(() => Math.random() < 0.5)
      await this.change(ids, MEMBER, () => allowlists.import('members', lines(ids), { format: 'text' }))
      const gone = ids.filter(() => Math.random() < 0.5)
      await this.change(gone, ABSENT, () => Promise.all(gone.map((id) => allowlists.remove('members', id))))
    },

    replace: async (): Promise<void> => {
      const set = (this.current + 1) % SETS
      this.pending = { set, seen: false }
      const body = lines([...this.sets[set]!])
      await this.catraca.allowlists.import('replaced', body, { format: 'text', mode: 'replace' })
      this.current = set
      this.pending = undefined
      for (let i = 0; i < 20; i++) await this.expect(this.anyOfSets())
    },

    createAndDelete: async (): Promise<void> => {
      const { allowlists } = this.catraca
      this.churned = 'unsettled'
      while (!(await this.createChurn())) await this.catraca.upkeep()
      await allowlists.add('churn', (this.churnMember = this.anyOfSets()))
      this.churned = true
      await this.expect(this.churnMember)
      await new Promise((resolve) => setTimeout(resolve, 20))
      this.churned = 'unsettled'
      await allowlists.delete('churn')
      this.churned = false
      await this.expect(this.churnMember)
    },
  }

  private async createChurn(): Promise<boolean> {
    try {
      await this.catraca.allowlists.create({ id: 'churn', name: 'Churn', type: 'FIXA' })
      return true
    } catch (error) {
      if (isCatracaError(error, 'ALLOWLIST_BEING_DELETED')) return false
      throw error
    }
  }

  /** Waits until nobody's time is left to run out, and sweeps. Then tells who must be in which list. */
  async settle(): Promise<{ members: Set<string>; replaced: Set<string>; asked: string[] }> {
    await new Promise((resolve) => setTimeout(resolve, MAX_LIFE_MS))
    await this.catraca.upkeep()
    const states = [...this.members] as [string, Exclude<State, 'unsettled'>][]
    const members = states.filter(([, { member, expiresAt }]) => member && expiresAt === undefined)
    return {
      members: new Set(members.map(([id]) => id)),
      replaced: this.sets[this.current]!,
      asked: [...new Set([...this.members.keys(), ...this.sets.flatMap((set) => [...set])])],
    }
  }
}
