import type { Algorithm } from '../rule.js'
import { concurrency, slidingWindow } from './admission-log.js'
import { fixedWindow } from './fixed-window.js'
import { slidingWindowCounter } from './sliding-window-counter.js'
import { tokenBucket } from './token-bucket.js'
import type { LimitAlgorithm } from './verdict.js'

export const ALGORITHM: Record<Algorithm, LimitAlgorithm> = {
  'token-bucket': tokenBucket,
  'sliding-window': slidingWindow,
  'sliding-window-counter': slidingWindowCounter,
  'fixed-window': fixedWindow,
  concurrency,
}

export type { LimitState, LimitView, AlgorithmResult as Verdict } from './verdict.js'
