import { isNone } from './content.js'
import { answerOf, findingOf } from './entries.js'
import { FlightEndings, mayBeInvalidated, type SpaceParts } from './flight-endings.js'
import { DOWN, type StoreTime } from './second-tier.js'
import type { CacheAnswer } from './types.js'

/** Reads the second tier, and never loads. */
export class Reader<T> {
  private readonly endings: FlightEndings<T>

  constructor(private readonly parts: SpaceParts<T>) {
    this.endings = new FlightEndings(parts)
  }

  /**
   * Reads in one round trip. Includes stale values, marked. Values whose invalidation may have been missed are
   * returned only to callers that see the mark.
   */
  async read(
    keys: readonly string[],
    seesMarks: boolean,
    time?: StoreTime,
  ): Promise<Map<string, CacheAnswer<T>>> {
    const { first, second, clock, counts } = this.parts
    const answers = new Map<string, CacheAnswer<T>>()
    const pins = keys.map((key) => first.pin(key))
    const askedAt = clock.now()
    const found = await second.read(keys, time)
    const doubts = found === DOWN && mayBeInvalidated(this.parts)
    for (const [i, key] of keys.entries()) {
      const entry =
        found === DOWN ? first.entries?.get(key) : await this.endings.decoded(key, found[i], askedAt, time)
      const now = clock.now()
      if (entry === undefined || now >= entry.keepUntil || (doubts && !seesMarks)) counts.misses++
      else {
        const answer = answerOf(findingOf(entry, now))
        if (doubts) answer.stale = true
        if (found === DOWN) counts.firstTierHits++
        else counts.secondTierHits++
        if (answer.stale) counts.staleAnswers++
        if (isNone(entry.content)) counts.negatives++
        if (found === DOWN) counts.degraded++
        if (found !== DOWN && first.isTrusted) first.put(pins[i]!, entry, now)
        answers.set(key, found === DOWN ? { ...answer, degraded: true } : answer)
      }
      first.unpin(pins[i]!)
    }
    return answers
  }
}
