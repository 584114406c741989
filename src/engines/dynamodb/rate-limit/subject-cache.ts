import type { Subject } from '../../../guards/rate-limit/types.js'
import { type CachedSubject, NOTHING } from './limit-state.js'

const MAX_WEIGHT = 20_000
/** This many numbers of states weigh as much as one subject. */
const NUMBERS_PER_WEIGHT = 50

type Generation = Map<string, Map<string, CachedSubject>>

/**
 * Items as last read. They are a guess: the form of the next update is chosen from it, and its condition checks it.
 * Items not used for long are dropped. A wrong guess costs one more write.
 */
export class SubjectCache {
  private young: Generation = new Map()
  private old: Generation = new Map()
  private weight = 0

  constructor(private readonly maxWeight = MAX_WEIGHT) {}

  get({ entity, resource }: Subject): CachedSubject | undefined {
    return this.young.get(resource)?.get(entity) ?? this.old.get(resource)?.get(entity)
  }

  set({ entity, resource }: Subject, known: CachedSubject): void {
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

function weightOf({ limits }: CachedSubject): number {
  let numbers = 0
  for (const { state } of limits.values()) numbers += state.length
  return 1 + numbers / NUMBERS_PER_WEIGHT
}
