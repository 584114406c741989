/** Runs commands that a test sends, one after the other, as `catraca` would, and tells what each printed. */
import { tmpdir } from 'node:os'
import { runCommandLine } from '../../src/cli/command-line.js'

export interface Order {
  id: number
  args: string[]
  cwd: string | undefined
  env: Record<string, string>
}

export interface Answer {
  id: number
  code: number
  stdout: string
  stderr: string
}

/** Takes what is written to a stream, until it is called. */
function capture(stream: NodeJS.WriteStream): () => string {
  const { write } = stream
  let text = ''
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined
    if (done !== undefined) process.nextTick(done)
    return true
  }
  return () => {
    stream.write = write
    return text
  }
}

async function run({ id, args, cwd, env }: Order): Promise<void> {
  process.chdir(cwd ?? tmpdir())
  process.env = { PATH: process.env.PATH, ...env }
  const ends = [capture(process.stdout), capture(process.stderr)]
  const code = await runCommandLine(args)
  const [stdout, stderr] = ends.map((end) => end()) as [string, string]
  process.send!({ id, code, stdout, stderr } satisfies Answer)
}

let last = Promise.resolve()
process.on('message', (order: Order) => {
  last = last.then(() => run(order))
})
