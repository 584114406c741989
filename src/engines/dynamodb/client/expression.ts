import type { Attribute, Item } from './attributes.js'

interface RequestParts {
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Item
}

export type Condition = RequestParts & { ConditionExpression: string }

const VERBS = ['SET', 'ADD', 'REMOVE'] as const
type Verb = (typeof VERBS)[number]

/** Collects the names and values of an expression. Every name is a placeholder, because many words are reserved. */
export class Expression {
  private readonly names = new Map<string, string>()
  private readonly values: Item = {}
  private readonly changes: Record<Verb, string[]> = { SET: [], ADD: [], REMOVE: [] }
  private readonly conditions: string[] = []
  private count = 0

  /** The placeholder of an attribute, or of a path such as `replacing.generation`. */
  name(path: string): string {
    return path
      .split('.')
      .map((part) => this.nameOf(part))
      .join('.')
  }

  /** The placeholder of one attribute, whose name may contain a dot. */
  attribute(name: string): string {
    return this.nameOf(name)
  }

  value(attribute: Attribute): string {
    const placeholder = `:v${this.count++}`
    this.values[placeholder] = attribute
    return placeholder
  }

  equals(path: string, attribute: Attribute | undefined): string {
    const name = this.name(path)
    return attribute === undefined ? `attribute_not_exists(${name})` : `${name} = ${this.value(attribute)}`
  }

  exists(path: string): string {
    return `attribute_exists(${this.name(path)})`
  }

  absent(path: string): string {
    return `attribute_not_exists(${this.name(path)})`
  }

  set(attributes: Item): this {
    for (const [path, value] of Object.entries(attributes)) this.setTo(path, this.value(value))
    return this
  }

  /** Sets an attribute to a term of placeholders. */
  setTo(path: string, term: string): this {
    return this.change('SET', `${this.name(path)} = ${term}`)
  }

  /** A change of attributes whose placeholders the caller has. */
  change(verb: Verb, ...terms: string[]): this {
    this.changes[verb].push(...terms)
    return this
  }

  /** Adds to numbers. Nothing is added to those that do not change. */
  add(steps: Readonly<Record<string, number>>): this {
    for (const [path, by] of Object.entries(steps)) {
      if (by !== 0) this.changes.ADD.push(`${this.name(path)} ${this.value({ N: String(by) })}`)
    }
    return this
  }

  remove(...paths: string[]): this {
    return this.change('REMOVE', ...paths.map((path) => this.name(path)))
  }

  /** All conditions must be met. */
  when(...conditions: (string | undefined)[]): this {
    for (const condition of conditions) if (condition !== undefined) this.conditions.push(condition)
    return this
  }

  /** The expressions of an update, with their names and values. Empty if it changes nothing. */
  update(): RequestParts & { UpdateExpression: string } {
    let UpdateExpression = ''
    for (const verb of VERBS) {
      const terms = this.changes[verb]
      if (terms.length > 0) UpdateExpression += `${UpdateExpression && ' '}${verb} ${terms.join(', ')}`
    }
    return { UpdateExpression, ...this.parts() }
  }

  /** The conditions, with their names and values. */
  check(): Condition {
    return { ConditionExpression: all(...this.conditions), ...this.parts() }
  }

  /** The conditions, if there are any, and all names and values. */
  parts(): RequestParts {
    return {
      ...(this.conditions.length > 0 && { ConditionExpression: all(...this.conditions) }),
      ...(this.names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries([...this.names].map(([name, short]) => [short, name])),
      }),
      ...(this.count > 0 && { ExpressionAttributeValues: this.values }),
    }
  }

  private nameOf(part: string): string {
    let placeholder = this.names.get(part)
    if (placeholder === undefined) this.names.set(part, (placeholder = `#n${this.names.size}`))
    return placeholder
  }
}

/** The parts of a request that is executed only if the condition is met. */
export function when(condition: (expression: Expression) => string): Condition {
  const expression = new Expression()
  return expression.when(condition(expression)).check()
}

export const all = (...conditions: (string | undefined)[]): string =>
  conditions
    .filter((condition) => condition !== undefined)
    .map((condition) => `(${condition})`)
    .join(' AND ')
