/** Acquires with the look-up of their configuration: of users who come for the first time, and again. Arguments: --users 500 */
import { numberArguments } from './support/arguments.js'
import { openConfigScene, RESOURCE, timed, userOf } from './support/limit-configs.js'
import { report } from './support/report.js'

const { values } = numberArguments({ users: 500 })
const scene = await openConfigScene(Math.ceil(values.users / 20))
const limits = scene.newLimits()
await limits.warmUp()
const visit = async () => {
  scene.units()
  const us = await timed(values.users, 1, (i) => limits.acquire({ entity: userOf(i), resource: RESOURCE }))
  return { us, units: scene.units() / values.users }
}
const [first, again] = [await visit(), await visit()]
await limits.close()
await scene.close()
report({
  name: 'test_acquire_with_config',
  rounds: 1,
  setting: values,
  figures: {
    'first acquire of a user, µs': first.us,
    'first acquire of a user, read units of configuration': first.units,
    'acquire, configuration in memory, µs': again.us,
    'acquire, configuration in memory, read units of configuration': again.units,
  },
  ratios: {},
})
