import {
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type ServerResponse,
  validateHeaderValue,
} from 'node:http'
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

type Methods = Pick<ServerResponse, 'write' | 'end' | 'writeHead' | 'flushHeaders' | 'destroy' | 'emit'>

/** Holds a response back from the client until it is recorded, or until it exceeds the size that is stored. */
export class HeldBackAnswer {
  private readonly chunks: Buffer[] = []
  private readonly callbacks: (() => void)[] = []
  private sizeBytes = 0
  private isEnded = false
  private isRecording = false
  private isClosed = false
  private state: 'held' | 'let go' | 'replaced' = 'held'
  /** What stood on the response before. */
  private readonly own: Methods

  constructor(
    private readonly response: ServerResponse,
    private readonly maxBytes: number,
    private readonly recorder: AnswerRecorder,
  ) {
    const { write, end, writeHead, flushHeaders, destroy, emit } = response
    this.own = { write, end, writeHead, flushHeaders, destroy, emit }
    standBefore(response, this)
  }

  /** Delays the `close` of the client: streams would stop at it, and the response would never be complete. */
  emit(name: string, args: unknown[]): boolean {
    if (this.state === 'held') {
      if (name === 'pipe') this.watch(args[0] as Readable)
      if (name === 'close') {
        this.isClosed = true
        return true
      }
    }
    return this.own.emit.call(this.response, name, ...args)
  }

  private watch(source: Readable): void {
    source.once('close', () => {
      // While the client is connected, the sender of the stream reports the error.
      if (this.isClosed && source.errored) this.giveUp(source.errored)
    })
  }

  write(args: readonly unknown[]): boolean {
    if (this.state === 'let go') return this.own.write.apply(this.response, args as never)
    if (this.state === 'replaced') return true
    // What is recorded must be what is sent.
    if (this.isEnded) return false
    checkHead(this.response)
    this.take(args)
    if (this.sizeBytes > this.maxBytes) this.settle()
    return !this.isRecording
  }

  end(args: readonly unknown[]): ServerResponse {
    if (this.state === 'let go') return this.own.end.apply(this.response, args as never)
    if (this.state === 'replaced' || this.isEnded) return this.response
    checkHead(this.response)
    this.take(args)
    this.isEnded = true
    this.settle()
    return this.response
  }

  writeHead(args: readonly unknown[]): ServerResponse {
    if (this.state !== 'held') return this.own.writeHead.apply(this.response, args as never)
    const [status, ...rest] = args
    const [message, fields] = typeof rest[0] === 'string' ? rest : [undefined, rest[1] ?? rest[0]]
    this.response.statusCode = status as number
    if (message !== undefined) this.response.statusMessage = String(message)
    setAll(this.response, fields as Fields | undefined)
    return this.response
  }

  flushHeaders(): void {
    if (this.state !== 'held') this.own.flushHeaders.call(this.response)
  }

  destroy(error: Error | undefined): ServerResponse {
    if (this.state === 'held') this.giveUp(error ?? new Error('the response was destroyed before its end'))
    return this.own.destroy.call(this.response, error)
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
    const body = this.sizeBytes > this.maxBytes ? undefined : inOnePiece(this.chunks)
    const head = headOf(this.response)
    const { own, response } = this
    void this.recorder
      .record(body)
      .then((problem) => (problem === undefined ? this.letGo(head) : this.replace(problem)))
      .catch(() => own.destroy.call(response))
  }

  private letGo(head: Head): void {
    const { response, own } = this
    this.state = 'let go'
    // A handler that fails after its response sees that no headers were sent, and may have set other headers.
    setHead(response, head)
    // In one piece, so that its length is known.
    if (this.isEnded)
      own.end.call(response, this.chunks.length === 0 ? undefined : inOnePiece(this.chunks), 'utf8')
    else for (const chunk of this.chunks) own.write.call(response, chunk, 'utf8')
    this.callBack()
    if (!this.isEnded) response.emit('drain')
    this.tellClosed()
  }

  /** Replaces the response by a problem; further output of the handler is dropped. */
  private replace({ status, headers, body }: RenderedProblem): void {
    const { response, own } = this
    this.state = 'replaced'
    setHead(response, { status, message: '', fields: headers })
    own.end.call(response, body, 'utf8')
    this.callBack()
    if (!this.isEnded) response.emit('drain')
    this.tellClosed()
  }

  private giveUp(error: unknown): void {
    this.state = 'let go'
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

/** The methods of held-back responses. */
const methodsOf = (heldBy: (response: ServerResponse) => HeldBackAnswer): Methods =>
  ({
    write(this: ServerResponse, ...args: unknown[]) {
      return heldBy(this).write(args)
    },
    end(this: ServerResponse, ...args: unknown[]) {
      return heldBy(this).end(args)
    },
    writeHead(this: ServerResponse, ...args: unknown[]) {
      return heldBy(this).writeHead(args)
    },
    flushHeaders(this: ServerResponse) {
      heldBy(this).flushHeaders()
    },
    destroy(this: ServerResponse, error?: Error) {
      return heldBy(this).destroy(error)
    },
    emit(this: ServerResponse, name: string, ...args: unknown[]) {
      return heldBy(this).emit(name, args)
    },
  }) as Methods

const held = new WeakMap<ServerResponse, HeldBackAnswer>()
const SHARED = methodsOf((response) => held.get(response)!)
const NAMES = Object.keys(SHARED) as (keyof Methods)[]

/** With the shared methods, by the prototype that they stand before: each application of Express has one. */
const prototypes = new WeakMap<object, object>()

/**
 * Express changes the prototype of each response. After that, methods on the response itself would cost more than all
 * else that is done here, and one more prototype costs little. Without Express it is the other way round.
 */
function standBefore(response: ServerResponse, answer: HeldBackAnswer): void {
  const before = Object.getPrototypeOf(response) as object
  const isOfExpress = before !== response.constructor.prototype
  // Other middleware may have put methods on the response itself, or hold it back too.
  if (!isOfExpress || held.has(response) || NAMES.some((name) => Object.hasOwn(response, name))) {
    Object.assign(
      response,
      methodsOf(() => answer),
    )
    return
  }
  let prototype = prototypes.get(before)
  if (prototype === undefined) {
    prototype = Object.assign(Object.create(before), SHARED) as object
    prototypes.set(before, prototype)
  }
  Object.setPrototypeOf(response, prototype)
  held.set(response, answer)
}

/** Node would refuse it when the headers are sent, and the handler has ended by then. */
function checkHead({ statusCode, statusMessage }: ServerResponse): void {
  if (!(statusCode >= 100 && statusCode <= 999)) throw new RangeError(`Invalid status code: ${statusCode}`)
  if (statusMessage) validateHeaderValue('statusMessage', statusMessage)
}

const inOnePiece = (chunks: Buffer[]): Buffer => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))

interface Head {
  status: number
  message: string
  /** By name in lower case. */
  fields: OutgoingHttpHeaders
}

function headOf(response: ServerResponse): Head {
  return { status: response.statusCode, message: response.statusMessage, fields: response.getHeaders() }
}

function setHead(response: ServerResponse, { status, message, fields }: Head): void {
  // Express changes the prototype of each response, which makes every assignment slow.
  if (response.statusCode !== status) response.statusCode = status
  if (response.statusMessage !== message) response.statusMessage = message
  for (const name of response.getHeaderNames()) if (fields[name] === undefined) response.removeHeader(name)
  for (const name in fields) {
    const value = fields[name]
    // A header that does not change keeps its spelling.
    if (value !== undefined && response.getHeader(name) !== value) response.setHeader(name, value)
  }
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
