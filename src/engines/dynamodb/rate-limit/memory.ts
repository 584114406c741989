import type { Subject } from '../../../guards/rate-limit/types.js'
import { type Known, NOTHING } from './known.js'

const MAX_WEIGHT = 20_000
/** Numbers of states that weigh as much as a subject does by itself. */
const NUMBERS_PER_WEIGHT = 50

type Generation = Map<string, Map<string, Known>>

/**
 * Items as they were last seen: a guess from which the form of the next update is chosen, and which its condition
 * proves. Those not used for long are dropped; a wrong guess costs one more write.
 */
export class Memory {
  private young: Generation = new Map()
  private old: Generation = new Map()
  private weight = 0

  constructor(private readonly maxWeight = MAX_WEIGHT) {}

  get({ entity, resource }: Subject): Known | undefined {
    return this.young.get(resource)?.get(entity) ?? this.old.get(resource)?.get(entity)
  }

  set({ entity, resource }: Subject, known: Known): void {
    let ofResource = this.young.get(resource)
    if (ofResource === undefined) this.young.set(resource, (ofResource = new Map()))
    const before = ofResource.get(entity)
    ofResource.set(entity, known)
    this.weight += weightOf(known) - (before === undefined ? 0 : weightOf(before))
    if (this.weight * 2 <= this.maxWeight) return
    this.old = this.young
    this.young = new Map()
    this.weight = 0
  }

  forget(subject: Subject): void {
    this.set(subject, NOTHING)
  }
}

function weightOf({ limits }: Known): number {
  let numbers = 0
  for (const { state } of limits.values()) numbers += state.length
  return 1 + numbers / NUMBERS_PER_WEIGHT
}
