import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { RenderedProblem } from '../server/http/problem.js'

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[] | [string, OutgoingHttpHeader][]
interface AnswerRecorder {
  /**
   * Records a response. `body` is undefined when it is too large. Returns a problem to send instead, if there is one.
   */
  record: (body: Buffer | undefined) => Promise<RenderedProblem | undefined>
  /** Called when there will be no response. */
  giveUp: (error: unknown) => void
}

/** Holds a response back from the client until it is recorded, or until it exceeds the size that is stored. */
export class HeldBackAnswer {
  private readonly chunks: Buffer[] = []
  private readonly callbacks: (() => void)[] = []
  private sizeBytes = 0
  private isEnded = false
  private isRecording = false
  private isClosed = false
  private readonly own: Pick<
    ServerResponse,
    'write' | 'end' | 'writeHead' | 'flushHeaders' | 'destroy' | 'emit'
  >

  constructor(
    private readonly response: ServerResponse,
    private readonly maxBytes: number,
    private readonly recorder: AnswerRecorder,
  ) {
    const { write, end, writeHead, flushHeaders, destroy, emit } = response
    this.own = { write, end, writeHead, flushHeaders, destroy, emit }
    Object.assign(response, {
      write: (...args: unknown[]) => this.write(args),
      end: (...args: unknown[]) => this.end(args),
      writeHead: (status: number, ...rest: unknown[]) => this.writeHead(status, rest),
      flushHeaders() {},
      destroy: (error?: Error) => {
        this.giveUp(error ?? new Error('the response was destroyed before its end'))
        return response.destroy(error)
      },
      emit: (name: string, ...args: unknown[]) => this.emit(name, args),
    })
    response.on('pipe', (source: Readable) => {
      source.once('close', () => {
        // While the client is connected, the sender of the stream reports the error.
        if (this.isClosed && source.errored) this.giveUp(source.errored)
      })
    })
  }

  /** Delays the `close` of the client: streams would stop at it, and the response would never be complete. */
  private emit(name: string, args: unknown[]): boolean {
    if (name !== 'close') return this.own.emit.call(this.response, name, ...args)
    this.isClosed = true
    return true
  }

  private write(args: readonly unknown[]): boolean {
    // What is recorded must be what is sent.
    if (this.isEnded) return false
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
    const [message, fields] = typeof rest[0] === 'string' ? rest : [undefined, rest[1] ?? rest[0]]
    this.response.statusCode = status
    if (message !== undefined) this.response.statusMessage = String(message)
    setAll(this.response, fields as Fields | undefined)
    return this.response
  }

  /** `(chunk?, encoding?, callback?)`, each optional. */
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
    const head = headOf(this.response)
    void this.recorder
      .record(body)
      .then((problem) => (problem === undefined ? this.letGo(head) : this.replace(problem)))
  }

  private letGo(head: Head): void {
    Object.assign(this.response, this.own)
    // A handler that fails after its response sees that no headers were sent, and may have set other headers.
    setHead(this.response, head)
    // In one piece, so that its length is known.
    if (this.isEnded) this.response.end(this.chunks.length === 0 ? undefined : Buffer.concat(this.chunks))
    else for (const chunk of this.chunks) this.response.write(chunk)
    this.callBack()
    if (!this.isEnded) this.response.emit('drain')
    this.tellClosed()
  }

  /** Replaces the response by a problem; further output of the handler is dropped. */
  private replace({ status, headers, body }: RenderedProblem): void {
    const { response, own } = this
    setHead(response, { status, message: '', fields: Object.entries(headers) })
    Object.assign(response, { ...own, write: () => true })
    own.end.call(response, body, 'utf8')
    Object.assign(response, { end: () => response })
    this.callBack()
    if (!this.isEnded) response.emit('drain')
    this.tellClosed()
  }

  private giveUp(error: unknown): void {
    Object.assign(this.response, this.own)
    if (this.isRecording) return
    this.isRecording = true
    this.recorder.giveUp(error)
    this.callBack()
    this.tellClosed()
  }

  private tellClosed(): void {
    if (this.isClosed) this.response.emit('close')
  }

  private callBack(): void {
    for (const callback of this.callbacks.splice(0)) callback()
  }
}

interface Head {
  status: number
  message: string
  fields: [string, OutgoingHttpHeader][]
}

function headOf(response: ServerResponse): Head {
  const fields = Object.entries({ ...response.getHeaders() }) as Head['fields']
  return { status: response.statusCode, message: response.statusMessage, fields }
}

function setHead(response: ServerResponse, { status, message, fields }: Head): void {
  response.statusCode = status
  response.statusMessage = message
  const names = new Set(fields.map(([name]) => name.toLowerCase()))
  for (const name of response.getHeaderNames()) if (!names.has(name)) response.removeHeader(name)
  // A header that does not change keeps its spelling.
  for (const [name, value] of fields) if (response.getHeader(name) !== value) response.setHeader(name, value)
}

function setAll(response: ServerResponse, fields: Fields | undefined): void {
  const seen = new Set<string>()
  for (const [name, value] of pairsOf(fields ?? {})) {
    if (value === undefined) continue
    // In a raw header list a name may occur several times, such as `set-cookie`.
    if (seen.has(name.toLowerCase())) response.appendHeader(name, value as string)
    else response.setHeader(name, value)
    seen.add(name.toLowerCase())
  }
}

function pairsOf(fields: Fields): [string, OutgoingHttpHeader | undefined][] {
  if (!Array.isArray(fields)) return Object.entries(fields)
  if (Array.isArray(fields[0])) return fields as [string, OutgoingHttpHeader][]
  const flat = fields as OutgoingHttpHeader[]
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[String(name), flat[i + 1]]] : []))
}
