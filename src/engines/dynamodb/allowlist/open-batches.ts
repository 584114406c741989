import { randomBytes } from 'node:crypto'
import type { Item } from '../client/attributes.js'
import { number, numberOf, text, textOf } from '../client/attributes.js'
import type { Expression } from '../client/expression.js'
import type { Row } from './rows.js'

/**
 * A batch of an import that is being written. Its rows are inserted without a condition on META and contain the name
 * of the batch. Their number is added to META when all are stored. Until then META has a separate attribute for the
 * batch (`importing-…`). A writer that removes such a row counts that there. So the number of added rows is the rows
 * that still have the name plus those that were taken, even if the process that wrote them died.
 */
export interface OpenBatch {
  /** From the import's record: the last part of the attribute name. */
  nonce: string
  importId: string
  /** The value of `batch` in its rows. */
  name: string
  /** Rows of it that were removed again. */
  taken: number
  /** Its customers are between these, in key order. */
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

/** Adds to an update of META what it needs so that open batches count the rows that were taken. */
export function takeFromBatches(
  expression: Expression,
  open: readonly OpenBatch[],
  rows: readonly Row[],
): void {
  const names = rows.flatMap(({ batch }) => (batch === undefined ? [] : [batch]))
  for (const nonce of new Set(names.map(nonceOf))) {
    const batch = open.find((one) => one.nonce === nonce)
    const attribute = batchAttribute(nonce)
    if (batch === undefined) {
      expression.when(expression.absent(attribute))
      continue
    }
    expression.when(expression.equals(`${attribute}.name`, text(batch.name)))
    const taken = names.filter((name) => name === batch.name).length
    if (taken > 0) {
      const name = expression.name(`${attribute}.taken`)
      expression.setTo(`${attribute}.taken`, `${name} + ${expression.value(number(taken))}`)
    }
  }
}
