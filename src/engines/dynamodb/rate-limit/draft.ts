import { type Attribute, number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { Key } from '../keys.js'
import { attributeOf, type CachedSubject } from './limit-state.js'

/** An item is stored this much longer than needed, so that not every write must move its TTL. */
const TTL_SLACK_SECONDS = 300
/** TTLs are rounded to whole steps, so that concurrent writers set the same one. */
const TTL_STEP_SECONDS = 60

/** An update of the item of one subject: its changes, and the conditions under which they are right. */
export class Draft {
  private readonly expression = new Expression()

  name(what: string, limit: string): string {
    return this.expression.attribute(attributeOf(what, limit))
  }

  /** The admissions of a time, in the log of a limit. */
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
    this.expression.when(condition)
  }

  set(path: string, value: string): void {
    this.expression.change('SET', `${path} = ${value}`)
  }

  remove(path: string): void {
    this.expression.change('REMOVE', path)
  }

  isRule(limit: string, rule: string): string {
    return `${this.name('rule', limit)} = ${this.value(text(rule))}`
  }

  isAbsent(limit: string): string {
    return `attribute_not_exists(${this.name('rule', limit)})`
  }

  /** Condition: the item was not written since it was read. */
  requireUnchanged({ mark }: CachedSubject): void {
    const name = this.plain('mark')
    if (mark === undefined) this.require(`attribute_not_exists(${name})`)
    else this.require(`${name} = ${this.value(text(mark))}`)
  }

  /**
   * The mark of this write. If its response was lost, a retry recognises the write by its mark, unless another write
   * followed, and does not repeat it.
   */
  mark(own: string): void {
    const name = this.plain('mark')
    const value = this.value(text(own))
    this.require(`attribute_not_exists(${name}) OR ${name} <> ${value}`)
    this.set(name, value)
  }

  /** Sets the TTL to at least this time. Other limits, unknown to this call, may need a later one. */
  keepUntil(known: CachedSubject, endsAt: number): void {
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

  request(TableName: string, Key: Key) {
    return { TableName, Key, ...this.expression.update() }
  }
}
