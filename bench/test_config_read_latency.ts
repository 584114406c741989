/** One read of configuration from DynamoDB, three levels, one at a time. Arguments: --reads 500 */
import { numberArguments } from './support/arguments.js'
import { openConfigScene, RESOURCE, timed, userOf } from './support/limit-configs.js'
import { report } from './support/report.js'

const { values } = numberArguments({ reads: 500 })
const scene = await openConfigScene(0)
scene.units()
const us = await timed(values.reads, 1, (i) =>
  scene.configs.read(
    [
      { level: 'system', resource: RESOURCE },
      { level: 'resource', resource: RESOURCE },
      { level: 'entity', entity: userOf(i), resource: RESOURCE },
    ],
    userOf(i),
  ),
)
const figures = { 'read latency, µs': us, 'read units per read': scene.units() / values.reads }
await scene.close()
report({ name: 'test_config_read_latency', rounds: 1, setting: values, figures, ratios: {} })
