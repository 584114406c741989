import type { Algorithm } from '../rule.js'
import { concurrency, slidingWindow } from './admission-log.js'
import type { LimitAlgorithm } from './algorithm.js'
import { fixedWindow } from './fixed-window.js'
import { slidingWindowCounter } from './sliding-window-counter.js'
import { tokenBucket } from './token-bucket.js'

export const ALGORITHM: Record<Algorithm, LimitAlgorithm> = {
  'token-bucket': tokenBucket,
  'sliding-window': slidingWindow,
  'sliding-window-counter': slidingWindowCounter,
  'fixed-window': fixedWindow,
  concurrency,
}

export type { AlgorithmResult as Verdict, LimitState, LimitView } from './algorithm.js'
