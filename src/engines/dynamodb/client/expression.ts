import type { Attribute, Item } from './attributes.js'

/** Collects the names and values of an expression. Every name is a placeholder, because many words are reserved. */
export class Expression {
  private readonly names = new Map<string, string>()
  private readonly values: Item = {}
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

  /** The parts of a request beside its expressions. */
  parts(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Item } {
    return {
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

export const all = (...conditions: (string | undefined)[]): string =>
  conditions
    .filter((condition) => condition !== undefined)
    .map((condition) => `(${condition})`)
    .join(' AND ')
