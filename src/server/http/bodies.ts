import type { IncomingMessage } from 'node:http'
import { CatracaError } from '../../core/errors.js'
import { SharedTimer, Waiter } from '../../core/shared-timer.js'
import { answerClientError } from './client-error.js'
import { Turns } from './turns.js'

/** Of calls that neither store a value nor name many ids: more than any of them needs. */
export const SMALL_BODY_BYTES = 64 * 1024
/** What is done with a body above this takes milliseconds: parsing, checks, and what the call itself does with it. */
const LARGE_BODY_BYTES = 16 * 1024

const monotonicMs = (): number => performance.now()

/** Set on a request until its whole body has arrived. */
const DEADLINE = Symbol('deadline of the body')
type TimedRequest = IncomingMessage & { [DEADLINE]?: BodyDeadline }

class BodyDeadline extends Waiter {
  constructor(private readonly request: IncomingMessage) {
    super()
  }

  override onDue(): void {
    if (!this.request.complete) answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, this.request.socket)
  }
}

/**
 * The request bodies in flight. Each must arrive before its deadline, whether a handler reads it or not, and the
 * bytes held for all of them are limited.
 */
export class Bodies {
  private readonly deadlines = new SharedTimer(monotonicMs)
  private readonly large = new Turns()
  private heldBytes = 0

  constructor(
    private readonly timeoutMs: number,
    private readonly maxHeldBytes: number,
  ) {}

  /** Starts the deadline of a request. Called before anything else is done with it. */
  expect(request: TimedRequest): void {
    if (!announcesBody(request)) return
    const deadline = new BodyDeadline(request)
    request[DEADLINE] = deadline
    this.deadlines.schedule(deadline, monotonicMs() + this.timeoutMs)
    request.once('close', () => this.deadlines.cancel(deadline))
  }

  /** Removes the deadline: an import may take any time. */
  takesItsTime(request: TimedRequest): void {
    const deadline = request[DEADLINE]
    if (deadline !== undefined) this.deadlines.cancel(deadline)
  }

  /**
   * Reads a whole body as text. Fails when it is larger than the limit, or when the bodies in flight leave no room
   * for it.
   */
  read(request: IncomingMessage, limitBytes: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let bytes = 0
      const stopReading = () => request.off('data', onData).off('end', onEnd).off('error', onError)
      const end = (outcome: () => void) => {
        stopReading()
        this.heldBytes -= bytes
        outcome()
      }
      const handOn = () => end(() => resolve(Buffer.concat(chunks).toString()))
      const onData = (chunk: Buffer) => {
        bytes += chunk.length
        this.heldBytes += chunk.length
        if (bytes > limitBytes) end(() => reject(tooLarge()))
        else if (this.heldBytes > this.maxHeldBytes) end(() => reject(overloaded()))
        else chunks.push(chunk)
      }
      const onEnd = () => {
        if (bytes <= LARGE_BODY_BYTES) return handOn()
        stopReading()
        this.large.add(handOn, Math.floor(bytes / LARGE_BODY_BYTES))
      }
      const onError = (cause: Error) => end(() => reject(cutOff(cause)))
      if (Number(request.headers['content-length'] ?? 0) > limitBytes) reject(tooLarge())
      else request.on('data', onData).on('end', onEnd).on('error', onError)
    })
  }
}

export function announcesBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

const tooLarge = () => new CatracaError('PAYLOAD_TOO_LARGE', 'the body is too large')

const cutOff = (cause: Error) => new CatracaError('INVALID_INPUT', 'the body was cut off', { cause })

const overloaded = () =>
  new CatracaError(
    'OVERLOADED',
    'the request bodies in flight fill the memory reserved for them (server.bodiesLimitBytes)',
  )
