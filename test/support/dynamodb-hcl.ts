import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A block of Terraform: `type "label" "label" { … }`. Expressions are kept as they are written. */
export interface Block {
  type: string
  labels: string[]
  attributes: Record<string, string>
  blocks: Block[]
}

/** All blocks of the files of a module. Reads what this repository writes; no heredocs. */
export function readModule(directory: string): Block[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.tf'))
  return files
    .sort()
    .flatMap((name) => readBody(new Text(readFileSync(join(directory, name), 'utf8'))).blocks)
}

/** The text of a quoted string, or the expression as it is. */
export function literal(expression: string | undefined): string | undefined {
  return expression === undefined ? undefined : (/^"(.*)"$/s.exec(expression)?.[1] ?? expression)
}

/** The parts of `[a, b]`, at any width. */
export function parts(expression: string): string[] {
  return expression
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((part) => literal(part.trim())!)
    .filter((part) => part !== '')
}

class Text {
  at = 0
  readonly text: string

  constructor(text: string) {
    this.text = text.replace(/^\s*#.*$/gm, '')
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern.source, 'sy')
    sticky.lastIndex = this.at
    const match = sticky.exec(this.text)
    if (match === null) return undefined
    this.at = sticky.lastIndex
    return match
  }
}

function readBody(text: Text): Pick<Block, 'attributes' | 'blocks'> {
  const attributes: Record<string, string> = {}
  const blocks: Block[] = []
  for (;;) {
    text.take(/\s+/)
    if (text.at >= text.text.length || text.take(/\}/)) return { attributes, blocks }
    const attribute = text.take(/(\w+)\s*=\s*/)
    if (attribute !== undefined) {
      attributes[attribute[1]!] = readExpression(text)
      continue
    }
    const head = text.take(/(\w+)((?:\s+"[^"]*")*)\s*\{/)
    if (head === undefined) throw new Error(`cannot read: ${text.text.slice(text.at, text.at + 60)}`)
    const labels = [...head[2]!.matchAll(/"([^"]*)"/g)].map((match) => match[1]!)
    blocks.push({ type: head[1]!, labels, ...readBody(text) })
  }
}

/** To the end of the line on which every bracket is closed. */
function readExpression(text: Text): string {
  const start = text.at
  let depth = 0
  for (;;) {
    if (text.take(/"(?:\$\{[^}]*\}|\\.|[^"\\])*"/) || text.take(/[^"\n()[\]{}]+/)) continue
    if (text.take(/[([{]/)) depth++
    else if (text.take(/[)\]}]/)) depth--
    else if (!text.take(/\n/)) throw new Error('an expression does not end')
    else if (depth === 0) return text.text.slice(start, text.at).trim()
  }
}
