import { randomBytes } from 'node:crypto'
import type { Item } from '../client/attributes.js'
import { number, numberOf, text, textOf } from '../client/attributes.js'
import type { Expression } from '../client/expression.js'
import type { Row } from './rows.js'

/**
 * A batch of an import that is being written. Its rows are inserted without asking META and carry the name of the
 * batch; META learns their number when all are stored. Until then META says so in an attribute of its own
 * (`importing-…`), and whoever takes such a row away notes that there: what the batch has added is then the rows that
 * still carry its name, and those that were taken, also when the process that wrote them is gone.
 */
export interface OpenBatch {
  /** Of the import's record: the last part of the attribute's name. */
  nonce: string
  importId: string
  /** What its rows carry as `batch`. */
  name: string
  /** Rows of it that are gone again. */
  taken: number
  /** Its customers are between these, as the table sorts them. */
  first: string
  last: string
}

const PREFIX = 'importing-'
export const batchAttribute = (nonce: string): string => PREFIX + nonce
const nonceOf = (batch: string): string => batch.split('-')[0]!

export const newBatchName = (nonce: string): string => `${nonce}-${randomBytes(5).toString('hex')}`

export function encodeOpenBatch({ nonce: _, taken, ...texts }: OpenBatch): { M: Item } {
  const entries = Object.entries(texts).map(([name, value]) => [name, text(value)] as const)
  return { M: { ...Object.fromEntries(entries), taken: number(taken) } }
}

export function readOpenBatches(meta: Item): OpenBatch[] {
  return Object.keys(meta)
    .filter((name) => name.startsWith(PREFIX))
    .map((attribute) => {
      const mark = meta[attribute]?.M ?? {}
      const [importId, name, first, last] = ['importId', 'name', 'first', 'last'].map((one) =>
        textOf(mark, one),
      ) as [string, string, string, string]
      const nonce = attribute.slice(PREFIX.length)
      return { nonce, importId, name, first, last, taken: numberOf(mark, 'taken') }
    })
}

/** What an update of META must say and demand, so that batches which are not counted yet learn what was taken. */
export function takeFromBatches(
  expression: Expression,
  open: readonly OpenBatch[],
  rows: readonly Row[],
): { set: string[]; conditions: string[] } {
  const set: string[] = []
  const conditions: string[] = []
  const names = rows.flatMap(({ batch }) => (batch === undefined ? [] : [batch]))
  for (const nonce of new Set(names.map(nonceOf))) {
    const batch = open.find((one) => one.nonce === nonce)
    const attribute = batchAttribute(nonce)
    if (batch === undefined) {
      conditions.push(expression.absent(attribute))
      continue
    }
    conditions.push(expression.equals(`${attribute}.name`, text(batch.name)))
    const taken = names.filter((name) => name === batch.name).length
    if (taken > 0) {
      const name = expression.name(`${attribute}.taken`)
      set.push(`${name} = ${name} + ${expression.value(number(taken))}`)
    }
  }
  return { set, conditions }
}
