import type { Argument } from './redis.js'

/** One operation among those that travel in one call. */
export interface BatchItem {
  keys: readonly string[]
  args: readonly Argument[]
}

/** What the server said of an item that failed. */
export class ItemFailure {
  constructor(readonly message: string) {}
}

/** How the items of a batch are told to a script, and what it answers of each. */
export interface BatchForm {
  /** What stands behind the keys. */
  argsOf(items: readonly BatchItem[]): Argument[]
  /** In the order of the items: the result, or an `ItemFailure`. */
  resultsOf(reply: unknown, items: readonly BatchItem[]): unknown[]
}

/** `{ 1, result }` or `{ 0, message }`, as `lua/batch.lua` answers for each item. */
type ItemReply = [1, unknown?] | [0, string | Buffer]

/** The form of `lua/batch.lua`: each item with its own arguments. */
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
