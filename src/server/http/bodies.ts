import type { IncomingMessage } from 'node:http'
import { CatracaError } from '../../core/errors.js'
import { type Newcomers, Turns } from './turns.js'

/** Of calls that neither store a value nor name many ids: more than any of them needs. */
export const SMALL_BODY_BYTES = 64 * 1024
/** What is done with a body above this takes milliseconds: parsing, checks, and what the call itself does with it. */
const LARGE_BODY_BYTES = 16 * 1024

/** The request bodies in flight. The bytes held for all of them are limited. */
export class Bodies {
  private readonly large: Turns
  private heldBytes = 0

  /** `callerOf`: those who send large bodies take turns. */
  constructor(
    private readonly maxHeldBytes: number,
    private readonly callerOf: (request: IncomingMessage) => unknown = () => undefined,
    newcomers?: Newcomers,
  ) {
    this.large = new Turns(newcomers)
  }

  /**
   * The turn of a request that is long for one turn of the event loop although its body is small. `worth`: turns of others
   * after it, where much of the work follows in later turns.
   */
  turn(request?: IncomingMessage, worth = 0): Promise<void> {
    const caller = request && this.callerOf(request)
    return new Promise((resolve) => this.large.add(resolve, Math.floor(worth), caller))
  }

  /** The next turn of a request that has had one. */
  nextTurn(request: IncomingMessage): Promise<void> {
    return new Promise((resolve) => this.large.goOn(resolve, this.callerOf(request)))
  }

  /**
   * Reads a whole body as text. Fails when it is larger than the limit, or when the bodies in flight leave no room
   * for it. The promise stays open when the request is answered before its body has come: nobody waits for it then.
   */
  read(request: IncomingMessage, limitBytes: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const body = new GatheredBytes()
      let bytes = 0
      let hasCome = false
      let isOver = false
      const end = (outcome: () => void) => {
        if (isOver) return
        isOver = true
        this.heldBytes -= bytes
        outcome()
      }
      const refuse = (why: CatracaError) => {
        // What still comes is for others. Of a body that has come whole the listeners stay: to take them off takes longer.
        request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
        end(() => reject(why))
      }
      const handOn = () => end(() => resolve(body.toString()))
      const onData = (chunk: Buffer) => {
        bytes += chunk.length
        this.heldBytes += chunk.length
        if (bytes > limitBytes) refuse(tooLarge())
        else if (this.heldBytes > this.maxHeldBytes) refuse(overloaded())
        else body.add(chunk)
      }
      const onEnd = () => {
        hasCome = true
        if (bytes <= LARGE_BODY_BYTES) return handOn()
        this.large.add(handOn, Math.floor(bytes / LARGE_BODY_BYTES), this.callerOf(request))
      }
      const onError = (cause: Error) => end(() => reject(cutOff(cause)))
      const onClose = () => {
        if (!hasCome) end(() => {})
      }
      if (Number(request.headers['content-length'] ?? 0) > limitBytes) reject(tooLarge())
      else request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
    })
  }
}

/**
 * The bytes of a body, copied into one buffer. To keep the chunks would let a caller hold some hundred bytes of memory
 * with every byte that it sends as a chunk of its own.
 */
class GatheredBytes {
  private held: Buffer = Buffer.alloc(0)
  private length = 0

  add(chunk: Buffer): void {
    const needed = this.length + chunk.length
    // Most bodies are one chunk, which is not copied.
    if (this.length === 0) this.held = chunk
    else {
      if (needed > this.held.length) this.grow(needed)
      chunk.copy(this.held, this.length)
    }
    this.length = needed
  }

  toString(): string {
    return this.held.toString('utf8', 0, this.length)
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.length))
    this.held.copy(larger, 0, 0, this.length)
    this.held = larger
  }
}

const tooLarge = () => new CatracaError('PAYLOAD_TOO_LARGE', 'the body is too large')

const cutOff = (cause: Error) => new CatracaError('INVALID_INPUT', 'the body was cut off', { cause })

const overloaded = () =>
  new CatracaError(
    'OVERLOADED',
    'the request bodies in flight fill the memory reserved for them (server.bodiesLimitBytes)',
  )
