/**
 * Requests that are done once: fresh ones (claim, work that takes no time, complete) and replays, through `run`.
 * On Redis beside two EVALSHA as they are, and Powertools; of DynamoDB the units.
 * Arguments: --seconds 3 --rounds 3 --inFlight 32
 */
import { numberArguments } from './support/arguments.js'
import { measureIdempotencyOnDynamodb } from './support/idempotency-dynamodb.js'
import {
  type IdempotencySizes,
  measureIdempotencyEmbedded,
  type Part,
} from './support/idempotency-embedded.js'
import { measureIdempotencyOnRedis } from './support/idempotency-redis.js'
import { report } from './support/report.js'

const { values } = numberArguments({ seconds: 3, rounds: 3, inFlight: 32 })

/** One for each engine. */
const PARTS: ((sizes: IdempotencySizes) => Promise<Part>)[] = [
  measureIdempotencyEmbedded,
  measureIdempotencyOnRedis,
  measureIdempotencyOnDynamodb,
]

const whole: Part = { figures: {}, ratios: {} }
for (const measure of PARTS) {
  const { figures, ratios } = await measure(values)
  Object.assign(whole.figures, figures)
  Object.assign(whole.ratios, ratios)
}
report({ name: 'idempotency', rounds: values.rounds, setting: values, ...whole })
