import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Decoder } from '@redis/client/dist/lib/RESP/decoder.js'
import type { Address } from './address.js'
import { encodeAscii, encodeCommand } from './encode-command.js'
import { describeFailure } from './failures.js'
import type { RedisTlsOptions } from './options.js'
import type { Argument } from './redis.js'

/** How the types of the protocol are returned, as the decoder takes it. */
export type TypeMapping = Record<number, unknown>

interface RespListener {
  /** Of the reply that begins. */
  typeMapping(): TypeMapping
  onReply(reply: unknown): void
  onErrorReply(error: Error): void
  /** Published messages and confirmations of subscriptions, with Buffers. */
  onPush(push: unknown[]): void
  /** Once. */
  onEnd(reason: string): void
}

/**
 * Text is written at once from this length on: the server begins with it while this process prepares what follows.
 * Shorter text waits for the end of the running code, and shares one packet with what follows.
 */
const WRITTEN_AT_ONCE = 1000
const KEEP_ALIVE_DELAY_MS = 5000
/** Memory for the bytes of many reads: a new piece for each read would keep the garbage collector busy. */
const SLAB_BYTES = 65_536
const LEAST_READ_BYTES = 16_384

/** One socket: commands go out, and replies come in the same order. The bytes are decoded by the library. */
export class RespSocket {
  private readonly socket: Socket
  private readonly decoder: Decoder
  /** ASCII that waits to be written. */
  private text = ''
  private isScheduled = false
  private hasEnded = false

  constructor({ host, port }: Address, tls: RedisTlsOptions | undefined, listener: RespListener) {
    this.decoder = new Decoder({
      getTypeMapping: () => listener.typeMapping(),
      onReply: (reply: unknown) => listener.onReply(reply),
      onErrorReply: (error: Error) => listener.onErrorReply(error),
      onPush: (push: unknown[]) => listener.onPush(push),
    })
    const options: TcpNetConnectOpts = {
      ...{ host, port, noDelay: true },
      ...{ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS },
      onread: intoSlabs((chunk) => this.read(chunk)),
    }
    this.socket = tls === undefined ? connect(options) : connectTls({ ...options, ...tls })
    const end = (reason: string) => {
      if (!this.hasEnded) listener.onEnd(reason)
      this.hasEnded = true
    }
    this.socket.on('error', (error) => end(describeFailure(error, undefined)))
    this.socket.once('close', () => end('the server closed the connection'))
  }

  send(args: readonly Argument[]): void {
    const text = encodeAscii(args)
    if (text === undefined) {
      this.sendPieces(encodeCommand(args))
      return
    }
    this.text += text
    if (this.text.length >= WRITTEN_AT_ONCE) this.flush()
    else if (!this.isScheduled) {
      this.isScheduled = true
      process.nextTick(this.flushLater)
    }
  }

  private sendPieces(pieces: readonly Argument[]): void {
    this.socket.cork()
    this.flush()
    for (const piece of pieces) this.socket.write(piece)
    this.socket.uncork()
  }

  destroy(): void {
    this.hasEnded = true
    this.text = ''
    this.socket.destroy()
  }

  private readonly flushLater = (): void => {
    this.isScheduled = false
    this.flush()
  }

  private flush(): void {
    if (this.text === '') return
    const { text } = this
    this.text = ''
    this.socket.write(text, 'latin1')
  }

  private read(chunk: Buffer): void {
    if (this.hasEnded) return
    try {
      this.decoder.write(chunk)
    } catch (error) {
      // What follows cannot be read either.
      this.socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** Reads into slices of large slabs, one after the other: decoded Buffers keep theirs. */
function intoSlabs(onRead: (chunk: Buffer) => void) {
  let slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  let used = 0
  return {
    buffer: (): Buffer => {
      if (SLAB_BYTES - used < LEAST_READ_BYTES) {
        slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
        used = 0
      }
      return slab.subarray(used)
    },
    callback: (bytes: number, buffer: Uint8Array): boolean => {
      used += bytes
      onRead(buffer.subarray(0, bytes) as Buffer)
      return true
    },
  }
}
