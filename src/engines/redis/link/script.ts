import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CatracaError } from '../../../core/errors.js'
import { type BatchForm, eachByItself } from './batch-form.js'

/** What TYPE says of a key; `any` where another program's value is part of the answer. */
export type KeyType = 'string' | 'hash' | 'set' | 'zset' | 'stream' | 'any'

export interface ScriptOptions {
  /**
   * Keys of one operation: how many, or what each of them holds. A script that writes, and knows it, refuses a key that
   * holds something else before it changes anything.
   */
  keys: number | readonly KeyType[]
  /** Without it Redis refuses every write of the script, and it is run again when its connection is lost. */
  write: boolean
  /** Of a script that writes: run twice it answers and leaves the same as run once, so that it is run again too. */
  repeatable?: boolean
  /** Also run by a server that is out of memory: for little that belongs to something which was freed. */
  evenWhenFull?: boolean
  /** Further files: `uses: ['change-log']` makes what `change-log.lua` returns known as `change_log`. */
  uses?: readonly string[]
  /**
   * The same behind a function: `limit_bucket()` runs `limit-bucket.lua`, so that what a call does not need is not
   * made. Everything knows everything.
   */
  offers?: readonly string[]
  /** The most that travel in one call, where larger ones would have server and process wait for each other. */
  together?: number
  /** How items travel together; other than `lua/batch.lua` wants it, the file has a loop over `KEYS` of its own. */
  form?: BatchForm
  /** Of a read, for one item alone: plain commands whose replies are its result, which cost less than a script. */
  alone?: (key: string) => readonly (readonly string[])[]
}

/** A file of `lua/` that returns `function(keys, args)`, the operation on one item; or one with a loop of its own. */
export interface Script {
  readonly name: string
  readonly keys: number
  readonly types: readonly KeyType[]
  readonly write: boolean
  readonly repeatable: boolean
  readonly together: number
  readonly form: BatchForm
  readonly alone: ScriptOptions['alone']
  /** The operation with the loop over the items of a batch around it. */
  readonly source: string
  readonly sha: string
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

const known = new Map<string, { name: string; source: string }>()

/** Every script that was defined so far, by its SHA: what servers call them. */
export const definedScripts = (): ReadonlyMap<string, { name: string; source: string }> => known

/** Reads the file, once: declare scripts at the top of a module. */
export function defineScript(name: string, options: ScriptOptions): Script {
  return assembleScript(name, options, readLua)
}

/** The same from other places than `lua/`. */
export function assembleScript(name: string, options: ScriptOptions, read: (name: string) => string): Script {
  const { write, uses = [], offers = [], together = Number.POSITIVE_INFINITY } = options
  const { repeatable = !write, form = eachByItself } = options
  const types = typeof options.keys === 'number' ? [] : options.keys
  const keys = typeof options.keys === 'number' ? options.keys : options.keys.length
  const judged = write ? types.map((type) => `'${type}'`) : []
  const spelled = (part: string) => part.replaceAll('-', '_')
  const enclosed = (part: string) => `(function()\n${read(part)}\nend)()`
  const parts = [...offers, ...uses].map(spelled)
  const source = [
    ...(options.evenWhenFull ? ['#!lua flags=allow-oom'] : []),
    `local KEYS_PER_ITEM, KEY_TYPES = ${keys}, { ${judged.join(', ')} }`,
    ...(parts.length === 0 ? [] : [`local ${parts.join(', ')}`]),
    ...offers.map((part) => `function ${spelled(part)}()\n${read(part)}\nend`),
    ...uses.map((part) => `${spelled(part)} = ${enclosed(part)}`),
    ...(form === eachByItself ? [`local operation = ${enclosed(name)}`, readLua('batch')] : [read(name)]),
  ].join('\n')
  const sha = createHash('sha1').update(source).digest('hex')
  known.set(sha, { name, source })
  return { name, keys, types, write, repeatable, together, form, alone: options.alone, source, sha }
}

function readLua(name: string): string {
  if (!NAME.test(name)) throw new CatracaError('INTERNAL', `${name} is no name of a script`)
  return readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8').trimEnd()
}
