import { invalid, isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import { listName, oneOf } from '../../guards/allowlist/input.js'
import { labelsOf, parseLabels } from '../../guards/allowlist/labels.js'
import type { Allowlist, AllowlistType, ListLabels } from '../../guards/allowlist/types.js'
import { parseWaveConfig } from '../../guards/allowlist/wave/config.js'
import { allItems } from '../commands/support/session.js'
import { customers } from '../output/print.js'
import {
  at,
  type FileRecord,
  type Kind,
  known,
  mapping,
  type RecordValue,
  type StoredRecord,
} from './kind.js'

export interface ListAddress {
  id: string
}

const LABELS = ['tags', 'owner', 'description']
const WORD = { FIXA: 'list', ONDA: 'wave' } as const

/** Lists of one type. The rule of a paused wave is the one that it has once it is resumed. */
function listsOf(type: AllowlistType): Kind<ListAddress> {
  const section = `${WORD[type]}s` as 'lists' | 'waves'
  const words = ({ id }: ListAddress) => [WORD[type], id]
  const parse = (value: RecordValue): RecordValue => {
    if (type === 'ONDA') {
      const { name, config, ...labels } = known(value, ['name', 'config', ...LABELS])
      return { name: listName(name), ...labelsIn(labels), config: parseWaveConfig('config', config) }
    }
    const { name, precision = 'exact', ...labels } = known(value, ['name', 'precision', ...LABELS])
    return {
      name: listName(name),
      ...labelsIn(labels),
      precision: oneOf('precision', precision, ['exact', 'trusted']),
    }
  }
  return {
    name: section,
    sections: [section],
    words,
    read: (_, content) =>
      Object.entries(content).map(
        ([given, value]): FileRecord<ListAddress> =>
          at(words({ id: given }), () => ({
            address: { id: plainName('id', given) },
            value: value === null ? undefined : parse(mapping('it', value)),
          })),
      ),
    place: ({ id }) => [section, id],
    async get({ allowlists }, { id }) {
      try {
        return storedOf(await allowlists.get(id), type)
      } catch (error) {
        if (isCatracaError(error, 'ALLOWLIST_NOT_FOUND')) return undefined
        throw error
      }
    },
    async *all({ allowlists }) {
      for await (const list of allItems((page) => allowlists.list(page))) {
        if (list.type === type) yield { address: { id: list.id }, ...storedOf(list, type) }
      }
    },
    refuse(_, before, after) {
      if (before.precision !== after.precision)
        throw invalid('precision', 'of a list cannot change: make another list')
    },
  }
}

const labelsIn = (labels: ListLabels): RecordValue => ({ ...labelsOf(parseLabels(labels)) })

function storedOf(list: Allowlist, type: AllowlistType): StoredRecord {
  const { id, name, precision, version, customerCount, paused } = list
  if (list.type !== type)
    throw invalid(`${WORD[type]}s.${id}`, `names a ${WORD[list.type]}: the type of a list cannot change`)
  if (type === 'ONDA') {
    const value = { name, ...labelsOf(list), config: { ...(paused?.config ?? list.config) } }
    return { value, version, ...(paused && { remark: 'it is paused' }) }
  }
  const remark = customerCount > 0 && { remark: `it has ${customers(customerCount)}` }
  return { value: { name, ...labelsOf(list), precision }, version, ...remark }
}

export const FIXA_KIND = listsOf('FIXA')
export const ONDA_KIND = listsOf('ONDA')
