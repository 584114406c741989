import { identifier } from '../../core/identifiers.js'
import type { ConfigAddress, GivenAddress } from '../../guards/rate-limit/api.js'
import { configVersion } from '../../guards/rate-limit/config-set.js'
import { parseConfigKey, parseLevelConfig } from '../../guards/rate-limit/level-config.js'
import type { EntityRecord, Level, LevelConfig } from '../../guards/rate-limit/types.js'
import { allItems } from '../commands/support/session.js'
import {
  at,
  type FileRecord,
  type Kind,
  known,
  mapping,
  type RecordValue,
  type StoredRecord,
} from './kind.js'

const LEVELS = { system: 'system', resources: 'resource', entities: 'entity' } as const satisfies Record<
  string,
  Level
>
const SECTIONS = Object.fromEntries(
  Object.entries(LEVELS).map(([section, level]) => [level, section]),
) as Record<Level, keyof typeof LEVELS>

/** Only the entity level has an identifier. */
const canonical = (level: Level, entity: string | undefined, resource: string): ConfigAddress => {
  const key = parseConfigKey(level, entity, resource)
  return key.level === 'entity'
    ? { level: key.level, identifier: key.entity, resource: key.resource }
    : { level: key.level, resource: key.resource }
}

const words = ({ level, identifier: entity, resource }: GivenAddress): string[] =>
  [level, entity, resource].filter((part) => part !== undefined)

const storedConfig = (config: LevelConfig): StoredRecord => {
  const { unreadable, ...value } = config
  const remark = unreadable && { remark: Object.values(unreadable).join('; ') }
  return { value: value as unknown as RecordValue, version: configVersion(config), ...remark }
}

function record(level: Level, entity: string | undefined, resource: string, value: unknown) {
  return at(words({ level, identifier: entity, resource }), (): FileRecord<ConfigAddress> => {
    const address = canonical(level, entity, resource)
    const config = value === null ? undefined : parseLevelConfig(level, value)
    return { address, value: config as RecordValue | undefined }
  })
}

export const LIMITS_KIND: Kind<ConfigAddress> = {
  name: 'limits',
  sections: Object.keys(LEVELS),
  words,
  read(section, content) {
    const level = LEVELS[section as keyof typeof LEVELS]
    if (level !== 'entity')
      return Object.entries(content).map(([resource, value]) => record(level, undefined, resource, value))
    return Object.entries(content).flatMap(([entity, records]) =>
      Object.entries(mapping(`entities.${entity}`, records)).map(([resource, value]) =>
        record(level, entity, resource, value),
      ),
    )
  },
  place: ({ level, identifier: entity, resource }) =>
    level === 'entity' ? ['entities', entity!, resource] : [SECTIONS[level], resource],
  async get({ limits }, address) {
    const config = await limits.getConfig(address)
    return config && storedConfig(config)
  },
  async *all({ limits }) {
    for (const level of Object.values(LEVELS)) {
      for await (const { config, ...address } of allItems((page) => limits.listConfigs({ level, ...page }))) {
        yield { address: canonical(level, address.identifier, address.resource), ...storedConfig(config) }
      }
    }
  },
}

export interface EntityAddress {
  id: string
}

const storedParent = ({ parent, cascade }: EntityRecord): StoredRecord => ({
  value: { parent, cascade },
  version: configVersion({ parent, cascade }),
})

export const ENTITIES_KIND: Kind<EntityAddress> = {
  name: 'entities',
  sections: ['parents'],
  words: ({ id }) => ['parent of', id],
  read: (_, content) =>
    Object.entries(content).map(
      ([given, value]): FileRecord<EntityAddress> =>
        at(['parents', given], () => {
          const address = { id: identifier('id', given) }
          if (value === null) return { address, value: undefined }
          const { parent, cascade = true } = known(mapping('it', value), ['parent', 'cascade'])
          return { address, value: { parent: identifier('parent', parent), cascade } }
        }),
    ),
  place: ({ id }) => ['parents', id],
  async get({ limits }, { id }) {
    const found = await limits.getEntity(id)
    return found && storedParent(found)
  },
  async *all({ limits }) {
    for await (const { id, ...found } of allItems((page) => limits.listEntities(page))) {
      yield { address: { id }, ...storedParent(found) }
    }
  },
}
