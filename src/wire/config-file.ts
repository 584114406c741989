import { listSettings, WaveConfig } from './allowlist/lists.js'
import { byName, closed } from './common.js'
import { LevelConfig, Parent } from './rate-limit/configs.js'
import { type TSchema, Type } from './typebox.js'

const { name, precision, tags, owner, description } = listSettings
const labels = { tags, owner, description }
const orNull = <T extends TSchema>(schema: T) =>
  Type.Union([schema, Type.Null({ description: 'Deletes it' })])
const records = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(byName(orNull(schema), { description }))

/** The file of `catraca config export`, `plan` and `apply`. A record that is null is deleted. */
export const ConfigFile = Type.Object(
  {
    lists: records(
      Type.Object({ name, precision, ...labels }, closed),
      'FIXA lists by id, without their members',
    ),
    waves: records(Type.Object({ name, ...labels, config: WaveConfig }, closed), 'ONDA lists by id'),
    system: records(LevelConfig, 'Limits of the system level by resource; `*` stands for all'),
    resources: records(LevelConfig, 'Limits by resource'),
    entities: Type.Optional(
      byName(byName(orNull(LevelConfig)), { description: 'Limits by entity and resource' }),
    ),
    parents: records(Parent, 'Parents of entities, by entity'),
  },
  { ...closed, title: 'Configuration of Catraca', description: 'Read by `catraca config plan` and `apply`' },
)

/** As JSON schema, for editors. */
export const configFileSchema = (): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...(JSON.parse(JSON.stringify(ConfigFile)) as object),
})
