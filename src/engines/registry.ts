import type { Check, Diagnosis } from '../core/diagnosis.js'
import { dynamodbEntry } from './dynamodb/entry.js'
import { embeddedEntry } from './embedded/entry.js'
import type { FullEngine, StoreSource } from './engine.js'
import { redisEntry } from './redis/entry.js'
import type { DiagnosedFor, EngineEntry, OpenedFor, StoreFacts } from './registry-entry.js'
import { splitOnce, wrong } from './url-parts.js'

/** The engines there are, by the name that their URLs and options have. Nobody else lists them. */
const ENTRIES = { embedded: embeddedEntry, redis: redisEntry, dynamodb: dynamodbEntry } as const

type Entries = typeof ENTRIES
type Name = keyof Entries
type UrlOf<N extends Name> = Entries[N] extends EngineEntry<infer Url, infer _> ? Url : never
type OptionsOf<N extends Name> = Entries[N] extends EngineEntry<infer _, infer Options> ? Options : never

/** A parsed store URL. */
export type StoreUrl = UrlOf<Name>

/** Options of each engine. Those of engines that no store URL names are not used. */
export type EngineOptions = { [N in Name]?: OptionsOf<N> }

/** An entry for URLs and options of its own kind. Both are found by the same name, which types cannot express. */
type AnyEntry = EngineEntry<{ engine: string }, object>
const entryOf = ({ engine }: { engine: string }): AnyEntry => ENTRIES[engine as Name] as unknown as AnyEntry
const ALL = Object.values(ENTRIES) as unknown as readonly AnyEntry[]

/** For who names no store. */
export const DEFAULT_STORE = 'embedded:./catraca-data'

export const STORE_URL_FORMS: readonly string[] = ALL.flatMap(({ forms }) => forms)

const SCHEMES = new Map(ALL.flatMap(({ schemes }) => Object.entries(schemes)))

/** All options of all engines. */
export const ENGINE_FIELDS = Object.fromEntries(
  Object.entries(ENTRIES).map(([name, { fields }]) => [name, fields]),
) as { [N in Name]: Entries[N]['fields'] }

export function parseStoreUrl(text: string): StoreUrl {
  const [scheme, rest] = splitOnce(text, ':')
  const parse = SCHEMES.get(scheme.toLowerCase())
  if (parse === undefined || rest === undefined) {
    throw wrong(`must have one of the forms ${STORE_URL_FORMS.join(', ')}`)
  }
  return parse(rest) as StoreUrl
}

/** The URL if it is one of this engine, for what only one engine has: tables, backups, Redlock. */
export function storeUrlOf<N extends Name>(engine: N, text: string): UrlOf<N> | undefined {
  const url = parseStoreUrl(text)
  return url.engine === engine ? (url as UrlOf<N>) : undefined
}

export function storeFacts(text: string): StoreFacts {
  const url = parseStoreUrl(text)
  return entryOf(url).facts(url)
}

/** The URL for display: without passwords, in normalised form. */
export const redactStoreUrl = (text: string): string => storeFacts(text).shown

export function storeSource(text: string, options: EngineOptions): StoreSource {
  const url = parseStoreUrl(text)
  return { url: entryOf(url).resolve?.(url) ?? url, options: { ...options[url.engine] } }
}

/** Whether both URLs mean the same store, however it is spelled. */
export function isSameStore(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => JSON.stringify(storeSource(text, {}).url))
  return a === b
}

/** Loads only the requested engine: the packages of the others need not be installed. */
export function openEngine({ url, options }: StoreSource, instance: OpenedFor = {}): Promise<FullEngine> {
  return entryOf(url).open(url, options, instance)
}

/** Diagnoses a store for an operator. `where`: the store as it may be shown. Never throws, never hangs. */
export function diagnoseStore(
  store: string,
  where: string,
  options: EngineOptions,
  use: DiagnosedFor,
): Promise<Diagnosis> {
  const source = storeSource(store, options)
  return entryOf(source.url).diagnose(source.url, source.options, use, where)
}

/** All checks of all engines, for the page that lists them. */
export async function engineChecks(): Promise<Check<never>[]> {
  return (await Promise.all(ALL.map((entry) => entry.checks()))).flat()
}
