import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { invalid } from '../../core/errors.js'
import type { Target } from '../commands/support/target.js'
import { type FileRecord, type Kind, type KindName, mapping, type RecordValue } from './kind.js'
import { ENTITIES_KIND, LIMITS_KIND } from './limits.js'
import { FIXA_KIND, ONDA_KIND } from './lists.js'
import { parseYaml } from './yaml.js'

/** In the order in which they are written and applied. */
export const ALL_KINDS = [FIXA_KIND, ONDA_KIND, LIMITS_KIND, ENTITIES_KIND] as unknown as readonly Kind[]
const SECTIONS = ALL_KINDS.flatMap(({ sections }) => sections)

/** The records of a file, for each kind of which it has a section, be it empty. */
export type ConfigDocument = ReadonlyMap<KindName, readonly FileRecord[]>

/** Reads a file, YAML or JSON. Records that it does not name stay, unless `--prune` is given. */
export function readDocument(file: string): ConfigDocument {
  const root = mapping('the file', load(file))
  for (const name of Object.keys(root)) {
    if (!SECTIONS.includes(name))
      throw invalid(name.slice(0, 64), `is not a known section; sections are ${SECTIONS.join(', ')}`)
  }
  const document = new Map<KindName, readonly FileRecord[]>()
  for (const kind of ALL_KINDS) {
    const given = kind.sections.filter((section) => root[section] !== undefined)
    if (given.length === 0) continue
    const records = given.flatMap((section) => kind.read(section, mapping(section, root[section] ?? {})))
    refuseTwice(kind, records)
    document.set(kind.name, records)
  }
  return document
}

function load(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw invalid(file, `cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
  try {
    return parseYaml(text) ?? {}
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0]! : String(cause)
    throw invalid(file, `is not YAML: ${reason}`)
  }
}

/** UUIDs are compared in any case, so two spellings can name one record. */
function refuseTwice(kind: Kind, records: readonly FileRecord[]): void {
  const names = new Set<string>()
  for (const { address } of records) {
    const name = kind.words(address).join(' ')
    if (names.has(name)) throw invalid(name, 'is named twice')
    names.add(name)
  }
}

type Tree = Map<string, Tree | RecordValue>

/** Everything of these kinds as YAML. Sections, records and fields have a fixed order, so that files can be compared. */
export async function writeDocument(
  target: Target,
  kinds: readonly KindName[],
  remark: (text: string) => void,
): Promise<string> {
  const sections: Tree = new Map()
  for (const kind of ALL_KINDS.filter(({ name }) => kinds.includes(name))) {
    for (const section of kind.sections) sections.set(section, new Map())
    for await (const stored of kind.all(target)) {
      const place = kind.place(stored.address)
      const parent = place.slice(0, -1).reduce(below, sections)
      parent.set(place.at(-1)!, ordered(withoutDefaults(stored.value)) as RecordValue)
      if (stored.remark !== undefined && kind === (LIMITS_KIND as Kind))
        remark(`${kind.words(stored.address).join(' ')}: ${stored.remark}`)
    }
  }
  for (const section of sections.values()) sortKeys(section as Tree)
  return stringify(sections, { lineWidth: 0 })
}

function below(tree: Tree, key: string): Tree {
  const known = tree.get(key)
  if (known !== undefined) return known as Tree
  const made: Tree = new Map()
  tree.set(key, made)
  return made
}

/** What is absent in a file means the same. */
function withoutDefaults({ precision, cascade, ...value }: RecordValue): RecordValue {
  const limits = value.limits as object | undefined
  if (limits !== undefined && Object.keys(limits).length === 0) delete value.limits
  return {
    ...value,
    ...(precision !== undefined && precision !== 'exact' && { precision }),
    ...(cascade === false && { cascade }),
  }
}

/** `name` and `strategy` first, then by the alphabet. As maps: a field may be called `__proto__` or `10`. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const rank = (name: string) => (name === 'name' || name === 'strategy' ? 0 : 1)
  const fields = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
  return new Map(fields.map(([name, field]) => [name, ordered(field)]))
}

/** Of the records, and of the records of an entity. The fields of a record are in order already. */
function sortKeys(tree: Tree): void {
  const entries = [...tree].sort(([a], [b]) => (a < b ? -1 : 1))
  tree.clear()
  for (const [key, value] of entries) tree.set(key, value)
}
