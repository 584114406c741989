import type { Argument } from './redis.js'

/** One operation of a batch. */
export interface BatchItem {
  keys: readonly string[]
  args: readonly Argument[]
}

/** The server's error message for an item that failed. */
export class ItemFailure {
  constructor(readonly message: string) {}
}

/** How the items of a batch are passed to a script, and how its reply is read. */
export interface BatchForm {
  /** The arguments after the keys. */
  argsOf(items: readonly BatchItem[]): Argument[]
  /** In the order of the items: the result, or an `ItemFailure`. */
  resultsOf(reply: unknown, items: readonly BatchItem[]): unknown[]
}

/** The reply of `lua/batch.lua` for each item: `{ 1, result }` or `{ 0, message }`. */
type ItemReply = [1, unknown?] | [0, string | Buffer]

/** The form of `lua/batch.lua`: each item has its own arguments. */
export const eachByItself: BatchForm = {
  argsOf(items) {
    const told: Argument[] = []
    for (const { args } of items) {
      told.push(String(args.length))
      for (const arg of args) told.push(arg)
    }
    return told
  },

  resultsOf(reply) {
    return (reply as ItemReply[]).map(([ran, value]) =>
      ran === 1 ? (value ?? null) : new ItemFailure(String(value)),
    )
  },
}

/** For scripts with their own loop: all arguments one after the other. Replies are numbers; a text is an error. */
export const flatNumbers: BatchForm = {
  argsOf: (items) => {
    const told: Argument[] = []
    for (const { args } of items) for (const arg of args) told.push(arg)
    return told
  },

  resultsOf: (reply) =>
    (reply as (number | string)[]).map((told) => (typeof told === 'string' ? new ItemFailure(told) : told)),
}
