/** A small part of Go's text/template: enough to render the Helm chart of this repository without Helm. */

export type Expression =
  | { kind: 'value'; value: unknown }
  | { kind: 'field'; base: string; path: string[] }
  | { kind: 'call'; name: string; args: Expression[] }

export type Node =
  | { kind: 'text'; text: string }
  | { kind: 'print'; expression: Expression }
  | { kind: 'set'; name: string; expression: Expression }
  | { kind: 'if' | 'with'; expression: Expression; body: Node[]; otherwise: Node[] }
  | { kind: 'range'; key?: string; item?: string; expression: Expression; body: Node[] }

type Token = { text: string } | { action: string }

function tokens(source: string): Token[] {
  const found: Token[] = []
  let at = 0
  let trimNext = false
  const add = (text: string, trimEnd: boolean) => {
    let kept = trimNext ? text.replace(/^\s+/, '') : text
    if (trimEnd) kept = kept.replace(/\s+$/, '')
    if (kept !== '') found.push({ text: kept })
  }
  for (const match of source.matchAll(/\{\{(-\s)?\s*([\s\S]*?)\s*(\s-)?\}\}/g)) {
    add(source.slice(at, match.index), match[1] !== undefined)
    if (!match[2]!.startsWith('/*')) found.push({ action: match[2]! })
    trimNext = match[3] !== undefined
    at = match.index + match[0].length
  }
  add(source.slice(at), false)
  return found
}

export class TemplateParser {
  private readonly queue: Token[]
  readonly defined: Map<string, Node[]>

  constructor(source: string, defined: Map<string, Node[]>) {
    this.queue = tokens(source)
    this.defined = defined
  }

  parse(): Node[] {
    const { body, ending } = this.body()
    if (ending !== undefined) throw new Error(`"${ending}" without a beginning`)
    return body
  }

  private body(): { body: Node[]; ending: string | undefined } {
    const body: Node[] = []
    for (let token = this.queue.shift(); token !== undefined; token = this.queue.shift()) {
      if ('text' in token) body.push({ kind: 'text', text: token.text })
      else if (/^(end|else)\b/.test(token.action)) return { body, ending: token.action }
      else {
        const node = this.action(token.action)
        if (node !== undefined) body.push(node)
      }
    }
    return { body, ending: undefined }
  }

  private action(action: string): Node | undefined {
    const [, word, rest] = /^(\w+)\s*([\s\S]*)$/.exec(action) ?? []
    if (word === 'define') {
      this.defined.set(JSON.parse(rest!), this.closed())
      return undefined
    }
    if (word === 'if' || word === 'with') return this.branch(word, rest!)
    if (word === 'range') {
      const loop = /^(?:\$(\w+),\s*\$(\w+)\s*:=\s*)?([\s\S]*)$/.exec(rest!)!
      const names = loop[1] === undefined ? {} : { key: loop[1], item: loop[2]! }
      return { kind: 'range', ...names, expression: parsePipeline(loop[3]!), body: this.closed() }
    }
    const set = /^\$(\w+)\s*:=\s*([\s\S]*)$/.exec(action)
    if (set !== null) return { kind: 'set', name: set[1]!, expression: parsePipeline(set[2]!) }
    return { kind: 'print', expression: parsePipeline(action) }
  }

  private closed(): Node[] {
    const { body, ending } = this.body()
    if (ending !== 'end') throw new Error(`expected "end", not "${ending}"`)
    return body
  }

  private branch(kind: 'if' | 'with', condition: string): Node {
    const { body, ending } = this.body()
    const again = /^else if\s+([\s\S]*)$/.exec(ending ?? '')
    let otherwise: Node[] = []
    if (again !== null) otherwise = [this.branch('if', again[1]!)]
    else if (ending === 'else') otherwise = this.closed()
    else if (ending !== 'end') throw new Error(`"${kind} ${condition}" has no end`)
    return { kind, expression: parsePipeline(condition), body, otherwise }
  }
}

function parsePipeline(source: string): Expression {
  const words = source.match(/"(?:\\.|[^"\\])*"|[()|]|[^\s()|"]+/g) ?? []
  const expression = pipeline(words)
  if (words.length > 0) throw new Error(`cannot read "${source}"`)
  return expression
}

/** Each part is given the one before as its last argument. */
function pipeline(words: string[]): Expression {
  let expression = command(words)
  while (words[0] === '|') {
    words.shift()
    const next = command(words)
    if (next.kind === 'call') next.args.push(expression)
    else throw new Error('only functions stand after |')
    expression = next
  }
  return expression
}

function command(words: string[]): Expression {
  const first = operand(words)
  if (first.kind !== 'call') return first
  while (words.length > 0 && words[0] !== '|' && words[0] !== ')') {
    const argument = operand(words)
    first.args.push(argument)
  }
  return first
}

function operand(words: string[]): Expression {
  const word = words.shift() ?? ''
  if (word === '(') {
    const inner = pipeline(words)
    if (words.shift() !== ')') throw new Error('a bracket is not closed')
    return inner.kind === 'call' ? { kind: 'call', name: 'identity', args: [inner] } : inner
  }
  if (word.startsWith('"')) return { kind: 'value', value: JSON.parse(word) }
  if (/^-?\d/.test(word)) return { kind: 'value', value: Number(word) }
  if (word === 'true' || word === 'false') return { kind: 'value', value: word === 'true' }
  if (word === '.Files.Get') return { kind: 'call', name: word, args: [] }
  const field = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word)
  if (field === null) return { kind: 'call', name: word, args: [] }
  return { kind: 'field', base: field[1] ?? '.', path: field[2]!.split('.').filter((part) => part !== '') }
}
