import type { Key } from '../allowlist/items.js'
import { type Attribute, number, text } from '../client/attributes.js'
import { all, Expression } from '../client/expression.js'
import { attributeOf, type Known } from './known.js'

/** Longer than it counts by so much is an item kept, so that its end need not be moved by every write. */
const TTL_SLACK_SECONDS = 300
/** Ends fall on whole steps: those who move one at the same time agree on it. */
const TTL_STEP_SECONDS = 60

export interface UpdateRequest {
  TableName: string
  Key: Key
  UpdateExpression: string
  ConditionExpression: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, Attribute>
}

/** An update of the item of one subject: what it changes, and the conditions under which that is right. */
export class Draft {
  private readonly expression = new Expression()
  private readonly conditions: string[] = []
  private readonly sets: string[] = []
  private readonly removes: string[] = []

  /** The attribute of a limit, in an expression. */
  name(what: string, limit: string): string {
    return this.expression.attribute(attributeOf(what, limit))
  }

  /** What was admitted at a time, in the log of a limit. */
  entry(limit: string, at: number): string {
    return `${this.name('log', limit)}.${this.expression.attribute(String(at))}`
  }

  plain(name: string): string {
    return this.expression.attribute(name)
  }

  number(value: number | bigint): string {
    return this.expression.value(number(value))
  }

  value(attribute: Attribute): string {
    return this.expression.value(attribute)
  }

  require(condition: string): void {
    this.conditions.push(condition)
  }

  set(path: string, value: string): void {
    this.sets.push(`${path} = ${value}`)
  }

  remove(path: string): void {
    this.removes.push(path)
  }

  isRule(limit: string, rule: string): string {
    return `${this.name('rule', limit)} = ${this.value(text(rule))}`
  }

  isAbsent(limit: string): string {
    return `attribute_not_exists(${this.name('rule', limit)})`
  }

  /** Nobody has written since the item was seen. */
  requireUnchanged({ mark }: Known): void {
    const name = this.plain('mark')
    if (mark === undefined) this.require(`attribute_not_exists(${name})`)
    else this.require(`${name} = ${this.value(text(mark))}`)
  }

  /**
   * The mark of this write. By it a write is recognised whose answer was lost, as long as nobody else has written: it
   * is not done again.
   */
  mark(own: string): void {
    const name = this.plain('mark')
    const value = this.value(text(own))
    this.require(`attribute_not_exists(${name}) OR ${name} <> ${value}`)
    this.set(name, value)
  }

  /** Keeps the item at least until then. It may be kept for longer for other limits, of which this call knows nothing. */
  keepUntil(known: Known, endsAt: number): void {
    const name = this.plain('ttl')
    const needed = Math.ceil(endsAt / 1000)
    if (known.ttl !== undefined && known.ttl >= needed) {
      this.require(`${name} >= ${this.number(needed)}`)
      return
    }
    const ttl = this.number(Math.ceil((needed + TTL_SLACK_SECONDS) / TTL_STEP_SECONDS) * TTL_STEP_SECONDS)
    this.require(`attribute_not_exists(${name}) OR ${name} <= ${ttl}`)
    this.set(name, ttl)
  }

  request(TableName: string, key: Key): UpdateRequest {
    const parts = [
      this.sets.length > 0 ? `SET ${this.sets.join(', ')}` : '',
      this.removes.length > 0 ? `REMOVE ${this.removes.join(', ')}` : '',
    ]
    return {
      TableName,
      Key: key,
      UpdateExpression: parts.join(' ').trim(),
      ConditionExpression: all(...this.conditions),
      ...this.expression.parts(),
    }
  }
}
