/** Many users, each of whom comes once: what of their configuration is in memory. Arguments: --users 20000 --inFlight 64 */
import { numberArguments } from './support/arguments.js'
import { openConfigScene, RESOURCE, timed, userOf } from './support/limit-configs.js'
import { report } from './support/report.js'

const { values } = numberArguments({ users: 20_000, inFlight: 64 })
const scene = await openConfigScene(Math.ceil(values.users / 20))
const cache = scene.newCache()
await cache.get({ entity: 'first', resource: RESOURCE })
scene.units()
const us = await timed(values.users, values.inFlight, (i) =>
  cache.get({ entity: userOf(i), resource: RESOURCE }),
)
const units = scene.units() / values.users
await scene.close()
report({
  name: 'test_config_sparse_traffic',
  rounds: 1,
  setting: values,
  figures: {
    'each user, µs': us,
    'read units per user': units,
    // Three levels of half a unit; that of the entity is asked for.
    'levels found in memory, share': 1 - units / 1.5,
  },
  ratios: {},
})
