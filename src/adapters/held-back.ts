import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { RenderedProblem } from '../server/problem.js'

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[]
/** Records an answer, whose body is undefined when it is too large; a problem is to be sent in its place. */
type RecordAnswer = (body: Buffer | undefined) => Promise<RenderedProblem | undefined>

/** Keeps an answer from the client until it is recorded, or until there is more of it than is kept. */
export class HeldBackAnswer {
  private readonly chunks: Buffer[] = []
  private readonly callbacks: (() => void)[] = []
  private sizeBytes = 0
  private isEnded = false
  private isRecording = false
  private readonly own: Pick<ServerResponse, 'write' | 'end' | 'writeHead' | 'flushHeaders'>

  constructor(
    private readonly response: ServerResponse,
    private readonly maxBytes: number,
    private readonly record: RecordAnswer,
  ) {
    const { write, end, writeHead, flushHeaders } = response
    this.own = { write, end, writeHead, flushHeaders }
    Object.assign(response, {
      write: (...args: unknown[]) => this.write(args),
      end: (...args: unknown[]) => this.end(args),
      writeHead: (status: number, ...rest: unknown[]) => this.writeHead(status, rest),
      flushHeaders() {},
    })
  }

  private write(args: readonly unknown[]): boolean {
    this.take(args)
    if (this.sizeBytes > this.maxBytes) this.settle()
    return !this.isRecording
  }

  private end(args: readonly unknown[]): ServerResponse {
    if (this.isEnded) return this.response
    this.take(args)
    this.isEnded = true
    this.settle()
    return this.response
  }

  private writeHead(status: number, rest: readonly unknown[]): ServerResponse {
    const [message, fields] = typeof rest[0] === 'string' ? rest : [undefined, rest[0]]
    this.response.statusCode = status
    if (message !== undefined) this.response.statusMessage = String(message)
    setAll(this.response, fields as Fields | undefined)
    return this.response
  }

  /** `(chunk?, encoding?, callback?)`, each of which may be left out. */
  private take(args: readonly unknown[]): void {
    const callback = args.find((one) => typeof one === 'function')
    if (callback !== undefined) this.callbacks.push(callback as () => void)
    const [chunk, encoding] = args
    if (chunk === undefined || chunk === null || typeof chunk === 'function') return
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk as Uint8Array)
    this.chunks.push(bytes)
    this.sizeBytes += bytes.length
  }

  private settle(): void {
    if (this.isRecording) return
    this.isRecording = true
    const body = this.sizeBytes > this.maxBytes ? undefined : Buffer.concat(this.chunks)
    void this.record(body).then((problem) => (problem === undefined ? this.letGo() : this.replace(problem)))
  }

  private letGo(): void {
    Object.assign(this.response, this.own)
    for (const chunk of this.chunks) this.response.write(chunk)
    if (this.isEnded) this.response.end()
    this.callBack()
    if (!this.isEnded) this.response.emit('drain')
  }

  /** What else the handler has to say is not said. */
  private replace({ status, headers, body }: RenderedProblem): void {
    const { response, own } = this
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    response.statusCode = status
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    Object.assign(response, { writeHead: own.writeHead, write: () => true })
    own.end.call(response, body, 'utf8')
    Object.assign(response, { end: () => response })
    this.callBack()
    if (!this.isEnded) response.emit('drain')
  }

  private callBack(): void {
    for (const callback of this.callbacks.splice(0)) callback()
  }
}

function setAll(response: ServerResponse, fields: Fields | undefined): void {
  const pairs = Array.isArray(fields)
    ? fields.flatMap((_, i) => (i % 2 === 0 ? [[String(fields[i]), fields[i + 1]] as const] : []))
    : Object.entries(fields ?? {})
  for (const [name, value] of pairs) if (value !== undefined) response.setHeader(name, value)
}
