import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'

/** One encoding of a file: plain, or compressed at build time. */
interface Representation {
  readonly etag: string
  /** Read at the first request: the console is 2 MB, and many servers are never asked for it. */
  readonly body: Buffer
  encoding?: 'br' | 'gzip'
}

interface ConsoleFile {
  type: string
  /** The name contains a hash of the content, so the content under this name never changes. */
  immutable: boolean
  plain: Representation
  compressed: Representation[]
}

export interface ConsoleFiles {
  files: ReadonlyMap<string, ConsoleFile>
  /** The HTML page; `__STYLE_NONCE__` is replaced in every response. */
  page: string
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}
const COMPRESSED = { '.br': 'br', '.gz': 'gzip' } as const

/** The files of the built console; undefined when it was not built. */
export function readConsole(directory: string): ConsoleFiles | undefined {
  const pagePath = join(directory, 'index.html')
  if (!existsSync(pagePath)) return undefined
  const files = new Map<string, ConsoleFile>()
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const type = TYPES[extname(entry.name)]
    if (!entry.isFile() || type === undefined || entry.name.startsWith('.')) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const name = relative(directory, path).split(sep).join('/')
    files.set(name, readOne(path, type, name.startsWith('assets/')))
  }
  return { files, page: readFileSync(pagePath, 'utf8') }
}

function readOne(path: string, type: string, immutable: boolean): ConsoleFile {
  const compressed = Object.entries(COMPRESSED)
    .filter(([ending]) => existsSync(path + ending))
    .map(([ending, encoding]) => represent(path + ending, encoding))
  return { type, immutable, plain: represent(path), compressed }
}

function represent(path: string, encoding?: 'br' | 'gzip'): Representation {
  let read: { body: Buffer; etag: string } | undefined
  const file = () => (read ??= readFile(path))
  return {
    ...(encoding !== undefined && { encoding }),
    get body() {
      return file().body
    },
    get etag() {
      return file().etag
    },
  }
}

function readFile(path: string): { body: Buffer; etag: string } {
  const body = readFileSync(path)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` }
}

/** The smallest encoding that the client accepts; `br` comes before `gzip`. */
export function choose(file: ConsoleFile, acceptEncoding: string | undefined): Representation {
  const accepted = new Set(
    (acceptEncoding ?? '')
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
      .map((part) => part.split(';', 1)[0]!.trim()),
  )
  return file.compressed.find(({ encoding }) => accepted.has(encoding!)) ?? file.plain
}
