/** Counters of a space. Its parts hold the other figures. */
export class Counts {
  firstTierHits = 0
  secondTierHits = 0
  misses = 0
  earlyRefreshes = 0
  staleAnswers = 0
  waitedFills = 0
  voidFills = 0
  unreadable = 0
  negatives = 0
  degraded = 0
}
