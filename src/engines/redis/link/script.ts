import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CatracaError } from '../../../errors.js'

export interface ScriptOptions {
  /** Keys of one operation. */
  keys: number
  /** Without it Redis refuses every write of the script, and it is run again when its connection is lost. */
  write: boolean
  /** Further files: `uses: ['change-log']` makes what `change-log.lua` returns known as `change_log`. */
  uses?: readonly string[]
  /** The most that travel in one call, where larger ones would have server and process wait for each other. */
  together?: number
  /**
   * For reads that must cost little: the file returns `function(keys)`, which is given the keys of all items at once and
   * answers so many results for each, one behind the other. An error is that of all.
   */
  resultsPerItem?: number
  /** Of such a read, for one item alone: plain commands with the same results, which cost less than a script. */
  alone?: (key: string) => readonly (readonly string[])[]
}

/** A file of `lua/` that returns `function(keys, args)`, the operation on one item. */
export interface Script {
  readonly name: string
  readonly keys: number
  readonly write: boolean
  readonly together: number
  readonly resultsPerItem: number | undefined
  readonly alone: ScriptOptions['alone']
  /** The operation with the loop over the items of a batch around it. */
  readonly source: string
  readonly sha: string
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** Reads the file, once: declare scripts at the top of a module. */
export function defineScript(name: string, options: ScriptOptions): Script {
  return assembleScript(name, options, readLua)
}

/** The same from other places than `lua/`. */
export function assembleScript(
  name: string,
  { keys, write, uses = [], together = Number.POSITIVE_INFINITY, resultsPerItem, alone }: ScriptOptions,
  read: (name: string) => string,
): Script {
  const enclosed = (part: string) => `(function()\n${read(part)}\nend)()`
  const source = [
    ...uses.map((used) => `local ${used.replaceAll('-', '_')} = ${enclosed(used)}`),
    `local operation = ${enclosed(name)}`,
    ...(resultsPerItem === undefined
      ? [`local KEYS_PER_ITEM = ${keys}`, readLua('batch')]
      : ['return operation(KEYS)']),
  ].join('\n')
  const sha = createHash('sha1').update(source).digest('hex')
  return { name, keys, write, together, resultsPerItem, alone, source, sha }
}

function readLua(name: string): string {
  if (!NAME.test(name)) throw new CatracaError('INTERNAL', `${name} is no name of a script`)
  return readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8').trimEnd()
}
