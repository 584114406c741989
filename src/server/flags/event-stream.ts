import { Readable } from 'node:stream'

/** The server-sent events of one client. */
export class EventStream extends Readable {
  private isOver = false

  override _read(): void {}

  /** False if nothing was sent: a client that reads nothing must not fill the memory. */
  send(text: string): boolean {
    if (this.isOver || this.readableLength > 0) return false
    this.push(text)
    return true
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.push(null)
  }
}
