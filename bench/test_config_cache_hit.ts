/** Configuration that is in memory, of all levels. Arguments: --users 1000 --hits 1000000 */
import { numberArguments } from './support/arguments.js'
import { openConfigScene, RESOURCE, timed, userOf } from './support/limit-configs.js'
import { report } from './support/report.js'

const { values } = numberArguments({ users: 1000, hits: 1_000_000 })
const scene = await openConfigScene(0)
const cache = scene.newCache()
await timed(values.users, 32, (i) => cache.get({ entity: userOf(i), resource: RESOURCE }))
scene.units()
const names = Array.from({ length: values.users }, (_, i) => userOf(i))
const start = performance.now()
for (let i = 0; i < values.hits; i++) cache.get({ entity: names[i % values.users]!, resource: RESOURCE })
const ns = ((performance.now() - start) / values.hits) * 1_000_000
const figures = { 'cache hit, ns': ns, 'read units': scene.units() }
await scene.close()
report({ name: 'test_config_cache_hit', rounds: 1, setting: values, figures, ratios: {} })
