/**
 * Acquires in one process on the embedded engine, then over one Redis on loopback, in turns with rate-limiter-flexible
 * on the same server, then over a DynamoDB on loopback, where units and calls are counted. What configuration costs is
 * in the benches test_config_* and test_acquire_with_config. Medians of the rounds. On a machine that has other work, ratios by processor time (this
 * process and the server together) hold better than those by the clock.
 * Arguments: --seconds 2 --rounds 5 --inFlight 64 --keys 10000, then the engines (default: embedded redis dynamodb)
 */
import { numberArguments } from './support/arguments.js'
import { measureDynamodb } from './support/rate-limit-dynamodb.js'
import { measureEmbedded } from './support/rate-limit-embedded.js'
import { measureRedis } from './support/rate-limit-redis.js'
import { report } from './support/report.js'

const { values, positionals } = numberArguments({ seconds: 2, rounds: 5, inFlight: 64, keys: 10_000 })
const wanted = positionals.length > 0 ? positionals : ['embedded', 'redis', 'dynamodb']
const named = (of: Record<string, number>) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [`redis, ${name}`, value]))

const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}
if (wanted.includes('embedded')) {
  const embedded = await measureEmbedded(values)
  Object.assign(figures, embedded.figures)
  Object.assign(ratios, embedded.ratios)
}
if (wanted.includes('redis')) {
  const redis = await measureRedis(values)
  Object.assign(figures, named(redis.figures))
  Object.assign(ratios, named(redis.ratios))
}
if (wanted.includes('dynamodb')) {
  const dynamodb = await measureDynamodb(values)
  Object.assign(figures, dynamodb.figures)
  Object.assign(ratios, dynamodb.ratios)
}
report({
  name: 'rate-limit',
  rounds: values.rounds,
  setting: { ...values, engines: wanted.join(' ') },
  figures,
  ratios,
})
