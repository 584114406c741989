import type { Item } from './attributes.js'

/** Which items of a partition a query reads, by their sort keys. Consistent, unless the query says otherwise. */
interface KeyRange {
  KeyConditionExpression: string
  ExpressionAttributeValues: Item
  ConsistentRead: boolean
}

function range(condition: string, values: Record<string, string>): KeyRange {
  const attributes = Object.entries(values).map(([name, value]) => [`:${name}`, { S: value }])
  return {
    KeyConditionExpression: condition,
    ExpressionAttributeValues: Object.fromEntries(attributes) as Item,
    ConsistentRead: true,
  }
}

export const whole = (pk: string): KeyRange => range('PK = :pk', { pk })

/** Both ends included. */
export const between = (pk: string, from: string, to: string): KeyRange =>
  range('PK = :pk AND SK BETWEEN :from AND :to', { pk, from, to })

export const startingWith = (pk: string, prefix: string): KeyRange =>
  range('PK = :pk AND begins_with(SK, :prefix)', { pk, prefix })

export const behind = (pk: string, after: string): KeyRange =>
  range('PK = :pk AND SK > :after', { pk, after })

export const before = (pk: string, end: string): KeyRange => range('PK = :pk AND SK < :end', { pk, end })
