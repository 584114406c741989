/** Users without limits of their own, one in twenty with: what it costs that the first is remembered. Arguments: --users 2000 --inFlight 64 */
import { numberArguments } from './support/arguments.js'
import { openConfigScene, RESOURCE, timed, userOf } from './support/limit-configs.js'
import { report } from './support/report.js'

const { values } = numberArguments({ users: 2000, inFlight: 64 })
const scene = await openConfigScene(Math.ceil(values.users / 20))
const cache = scene.newCache()
const visit = async () => {
  scene.units()
  await timed(values.users, values.inFlight, (i) => cache.get({ entity: userOf(i), resource: RESOURCE }))
  return scene.units() / values.users
}
const [first, again] = [await visit(), await visit()]
await scene.close()
if (again > 0) throw new Error(`users who came before cost ${again} read units each`)
report({
  name: 'test_config_negative_cache',
  rounds: 1,
  setting: values,
  figures: { 'read units per user, first': first, 'read units per user, again': again },
  ratios: {},
})
