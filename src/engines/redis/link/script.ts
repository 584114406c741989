import { createHash } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import { type BatchForm, eachByItself } from './batch-form.js'
import { luaText } from './lua-text.js'

/** The reply of TYPE; `any` if a value of another program is a valid input. */
export type KeyType = 'string' | 'hash' | 'set' | 'zset' | 'stream' | 'any'

interface ScriptOptions {
  /**
   * Keys of one operation: their number, or the type of each. With types, a script that writes refuses a key of
   * another type before it changes anything.
   */
  keys: number | readonly KeyType[]
  /** If false, Redis refuses every write of the script, and it is sent again when its connection is lost. */
  write: boolean
  /** For a script that writes: running it twice has the same effect and result as once, so it may be sent again too. */
  repeatable?: boolean
  /** Also run by a server that is out of memory: for small writes that complete something which frees memory. */
  evenWhenFull?: boolean
  /** Other files: `uses: ['change-log']` makes the result of `change-log.lua` available as `change_log`. */
  uses?: readonly string[]
  /**
   * Other files, loaded only when needed: `limit_bucket()` runs `limit-bucket.lua`. Each of these files can use all
   * the others.
   */
  offers?: readonly string[]
  /**
   * Another file for rare items, with the files that it uses and offers: `otherwise(…)` runs them all, each time. So they
   * cost the usual items nothing, not even their definition.
   */
  otherwise?: { file: string; uses: readonly string[]; offers: readonly string[] }
  /** Maximum items per call, where larger batches would make server and process wait for each other. */
  together?: number
  /** How items share a call. With another form than that of `lua/batch.lua`, the file has its own loop over `KEYS`. */
  form?: BatchForm
  /** For a read of a single item: plain commands with the same result, which cost less than a script. */
  alone?: (key: string) => readonly (readonly string[])[]
}

/** A file of `lua/` that returns `function(keys, args)`, the operation on one item; or a file with its own loop. */
export interface Script {
  readonly name: string
  readonly keys: number
  readonly types: readonly KeyType[]
  readonly write: boolean
  readonly repeatable: boolean
  readonly together: number
  readonly form: BatchForm
  readonly alone: ScriptOptions['alone']
  /** The operation, with the loop over the items of a batch around it. */
  readonly source: string
  readonly sha: string
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

const known = new Map<string, { name: string; source: string }>()

/** All scripts defined so far, by SHA. */
export const definedScripts = (): ReadonlyMap<string, { name: string; source: string }> => known

/** Reads the file once: declare scripts at the top of a module. */
export function defineScript(name: string, options: ScriptOptions): Script {
  return assembleScript(name, options, readLua)
}

/** The same with another source of files than `lua/`. */
export function assembleScript(name: string, options: ScriptOptions, read: Read): Script {
  const { write, uses = [], offers = [], together = Number.POSITIVE_INFINITY } = options
  const { repeatable = !write, form = eachByItself } = options
  const types = typeof options.keys === 'number' ? [] : options.keys
  const keys = typeof options.keys === 'number' ? options.keys : options.keys.length
  const judged = write ? types.map((type) => `'${type}'`) : []
  const body =
    form === eachByItself ? [`local operation = ${enclosed(read(name))}`, readLua('batch')] : [read(name)]
  const source = [
    ...(options.evenWhenFull ? ['#!lua flags=allow-oom'] : []),
    `local KEYS_PER_ITEM, KEY_TYPES = ${keys}, { ${judged.join(', ')} }`,
    ...libraryOf(uses, offers, read),
    ...(options.otherwise === undefined ? [] : [otherwiseOf(options.otherwise, read)]),
    ...body,
  ].join('\n')
  const sha = createHash('sha1').update(source).digest('hex')
  known.set(sha, { name, source })
  return { name, keys, types, write, repeatable, together, form, alone: options.alone, source, sha }
}

type Read = (name: string) => string

const spelled = (part: string): string => part.replaceAll('-', '_')
const enclosed = (text: string): string => `(function()\n${text}\nend)()`

function libraryOf(uses: readonly string[], offers: readonly string[], read: Read): string[] {
  const parts = [...offers, ...uses].map(spelled)
  return [
    ...(parts.length === 0 ? [] : [`local ${parts.join(', ')}`]),
    ...offers.map((part) => `function ${spelled(part)}()\n${read(part)}\nend`),
    ...uses.map((part) => `${spelled(part)} = ${enclosed(read(part))}`),
  ]
}

function otherwiseOf({ file, uses, offers }: NonNullable<ScriptOptions['otherwise']>, read: Read): string {
  return ['local function otherwise(...)', ...libraryOf(uses, offers, read), read(file), 'end'].join('\n')
}

function readLua(name: string): string {
  if (!NAME.test(name)) throw new CatracaError('INTERNAL', `${name} is no name of a script`)
  return luaText(name)
}
