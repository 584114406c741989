/**
 * Acquires in one process on the embedded engine, then over one Redis on loopback, in turns with rate-limiter-flexible
 * on the same server, then over a DynamoDB on loopback, where units and calls are counted. What configuration costs is
 * in the benches test_config_* and test_acquire_with_config. Medians of the rounds. On a machine that has other work, ratios by processor time (this
 * process and the server together) hold better than those by the clock.
 * Arguments: --seconds 2 --rounds 3 --inFlight 64 --keys 10000
 */
import { numberArguments } from './support/arguments.js'
import { measureDynamodb } from './support/rate-limit-dynamodb.js'
import { measureEmbedded } from './support/rate-limit-embedded.js'
import { measureRedis } from './support/rate-limit-redis.js'
import { report } from './support/report.js'

const { values } = numberArguments({ seconds: 2, rounds: 3, inFlight: 64, keys: 10_000 })
const named = (of: Record<string, number>) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [`redis, ${name}`, value]))

const embedded = await measureEmbedded(values)
const redis = await measureRedis(values)
const dynamodb = await measureDynamodb(values)
report({
  name: 'rate-limit',
  rounds: values.rounds,
  setting: values,
  figures: { ...embedded.figures, ...named(redis.figures), ...dynamodb.figures },
  ratios: { ...embedded.ratios, ...named(redis.ratios), ...dynamodb.ratios },
})
