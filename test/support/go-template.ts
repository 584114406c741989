import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { stringify } from 'yaml'
import { type Expression, type Node, TemplateParser } from './go-template-parse.js'

// biome-ignore lint/suspicious/noExplicitAny: templates have no types.
type Any = any

const truth = (value: Any): boolean => {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}
const text = (value: Any): string => (value === undefined || value === null ? '' : String(value))
const indent = (count: number, lines: Any): string =>
  text(lines)
    .split('\n')
    .map((line) => ' '.repeat(count) + line)
    .join('\n')
const whole = (value: Any): number => Math.trunc(Number(value))

/** Of Go and Sprig, as Helm has them; what is piped comes last. */
const FUNCTIONS: Record<string, (...args: Any[]) => Any> = {
  identity: (value) => value,
  default: (otherwise, value) => (truth(value) ? value : otherwise),
  quote: (value) => JSON.stringify(text(value)),
  toYaml: (value) => stringify(value, { sortMapEntries: true, lineWidth: 0 }).trimEnd(),
  toJson: (value) => JSON.stringify(sorted(value)),
  nindent: (count, lines) => `\n${indent(count, lines)}`,
  indent,
  printf: (format: string, ...args) => {
    let at = 0
    return format.replace(/%[sdv]/g, () => text(args[at++]))
  },
  and: (...args) => args.find((one) => !truth(one)) ?? args.at(-1),
  or: (...args) => args.find(truth) ?? args.at(-1),
  not: (value) => !truth(value),
  eq: (one, ...others) => others.includes(one),
  contains: (part, whole) => text(whole).includes(part),
  hasPrefix: (prefix, value) => text(value).startsWith(prefix),
  trimPrefix: (prefix, value) => (text(value).startsWith(prefix) ? text(value).slice(prefix.length) : value),
  trimSuffix: (suffix, value) =>
    text(value).endsWith(suffix) ? text(value).slice(0, -suffix.length) : value,
  trunc: (count, value) => text(value).slice(0, count),
  replace: (from, to, value) => text(value).replaceAll(from, to),
  dir: (value) => posix.dirname(text(value)),
  upper: (value) => text(value).toUpperCase(),
  int64: whole,
  add: (...args) => args.reduce((sum: number, one) => sum + whole(one), 0),
  div: (one, other) => whole(whole(one) / whole(other)),
  sha256sum: (value) => createHash('sha256').update(text(value)).digest('hex'),
  dict: (...pairs) =>
    Object.fromEntries(pairs.flatMap((one, at) => (at % 2 === 0 ? [[one, pairs[at + 1]]] : []))),
}

function sorted(value: Any): Any {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}

interface Scope {
  dot: Any
  variables: Map<string, Any>
}

export class Templates {
  private readonly defined = new Map<string, Node[]>()
  private readonly files: (path: string) => string

  constructor(files: (path: string) => string) {
    this.files = files
  }

  add(name: string, source: string): void {
    this.defined.set(name, new TemplateParser(source, this.defined).parse())
  }

  render(name: string, dot: Any): string {
    const nodes = this.defined.get(name)
    if (nodes === undefined) throw new Error(`no template ${name}`)
    return this.write(nodes, { dot, variables: new Map([['$', dot]]) })
  }

  private write(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.writeOne(node, scope)).join('')
  }

  private writeOne(node: Node, scope: Scope): string {
    if (node.kind === 'text') return node.text
    const value = this.evaluate(node.expression, scope)
    if (node.kind === 'print') return text(value)
    if (node.kind === 'set') {
      scope.variables.set(`$${node.name}`, value)
      return ''
    }
    if (node.kind === 'range') return this.loop(node, value, scope)
    if (!truth(value)) return this.write(node.otherwise, scope)
    return this.write(node.body, node.kind === 'with' ? { ...scope, dot: value } : scope)
  }

  private loop(node: Node & { kind: 'range' }, value: Any, scope: Scope): string {
    const names = Object.keys(value ?? {})
    const keys: Any[] = Array.isArray(value) ? [...value.keys()] : names.sort()
    return keys
      .map((key) => {
        const variables = new Map(scope.variables)
        if (node.key !== undefined) variables.set(`$${node.key}`, key).set(`$${node.item}`, value[key])
        return this.write(node.body, { dot: value[key], variables })
      })
      .join('')
  }

  private evaluate(expression: Expression, scope: Scope): Any {
    if (expression.kind === 'value') return expression.value
    if (expression.kind === 'field') return this.field(expression, scope)
    const args = expression.args.map((one) => this.evaluate(one, scope))
    if (expression.name === 'include') return this.render(args[0], args[1])
    if (expression.name === '.Files.Get') return this.files(args[0])
    const call = FUNCTIONS[expression.name]
    if (call === undefined) throw new Error(`no function ${expression.name}`)
    return call(...args)
  }

  /** Stricter than Helm: a name that values.yaml does not have is a slip of the pen. */
  private field({ base, path }: Expression & { kind: 'field' }, scope: Scope): Any {
    let value = base === '.' ? scope.dot : scope.variables.get(base)
    for (const name of path) {
      if (typeof value !== 'object' || value === null || !(name in value))
        throw new Error(`nothing at ${base}${path.join('.')}`)
      value = value[name]
    }
    return value
  }
}
