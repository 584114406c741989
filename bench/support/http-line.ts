import { Duplex } from 'node:stream'

/** A connection without a network: what is sent arrives in exactly the pieces in which it was sent. */
export class HttpLine extends Duplex {
  /** All that the server has said. */
  received = ''
  bytesRead = 0
  timeout = 0
  readonly remoteAddress = '127.0.0.1'

  constructor() {
    super({ allowHalfOpen: true })
    this.on('error', () => {})
  }

  /** Whether the server has hung up, or said that it will say nothing more. */
  get isOver(): boolean {
    return this.destroyed || this.writableEnded
  }

  send(piece: string): void {
    if (this.destroyed) return
    this.bytesRead += piece.length
    this.push(Buffer.from(piece, 'latin1'))
  }

  /** The caller says nothing more. */
  hangUp(): void {
    if (!this.destroyed) this.push(null)
  }

  destroySoon(): void {
    if (this.writableEnded) this.destroy()
    else this.end(() => this.destroy())
  }

  setTimeout(ms: number): this {
    this.timeout = ms
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.received += chunk.toString('latin1')
    done()
  }
}
