const MAX_HEAD_BYTES = 65_536
const HEAD_END = '\r\n\r\n'

type State = 'head' | 'length' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'until-close'
/** `more`: the response is incomplete. `bad`: it is not a valid response, or more than one. */
export type Fed = 'more' | 'done' | 'bad'

/** Parses one HTTP/1.1 response at a time, from chunks of any size. */
export class ResponseParser {
  status = 0
  keepsOpen = true
  private state: State = 'head'
  private head = ''
  private left = 0
  private line = ''
  private parts: string[] | undefined

  /** Resets the parser. The body is stored only if it is needed. */
  begin(wantsBody: boolean): void {
    this.state = 'head'
    this.head = ''
    this.line = ''
    this.parts = wantsBody ? [] : undefined
  }

  get body(): string {
    return (this.parts ?? []).join('')
  }

  feed(bytes: Buffer, length = bytes.length): Fed {
    let at = 0
    while (at < length || (this.state === 'length' && this.left === 0)) {
      switch (this.state) {
        case 'head':
          at = this.readHead(bytes, at, length)
          if (at < 0) return 'bad'
          break
        case 'length':
        case 'chunk-data':
          at = this.take(bytes, at, length)
          if (this.left > 0) return 'more'
          if (this.state === 'length') return at === length ? 'done' : 'bad'
          this.state = 'chunk-end'
          break
        case 'until-close':
          this.left = length - at
          at = this.take(bytes, at, length)
          break
        default: {
          at = this.readLine(bytes, at, length)
          if (this.line.length > MAX_HEAD_BYTES) return 'bad'
          if (!this.line.endsWith('\n')) return 'more'
          const outcome = this.endLine(this.line.trimEnd())
          this.line = ''
          if (outcome === 'done') return at === length ? 'done' : 'bad'
          if (outcome === 'bad') return 'bad'
        }
      }
    }
    return 'more'
  }

  /** True when a closed connection ends the response, because it has no length. */
  get endsByClose(): boolean {
    return this.state === 'until-close'
  }

  /** Returns the position after the head; negative when the head is not valid. */
  private readHead(bytes: Buffer, at: number, length: number): number {
    const before = this.head.length
    this.head += bytes.toString('latin1', at, length)
    const end = this.head.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length))
    if (end < 0) return this.head.length > MAX_HEAD_BYTES ? -1 : length
    const read = at + end + HEAD_END.length - before
    const head = this.head.slice(0, end)
    this.head = ''
    return this.understand(head) ? read : -1
  }

  private understand(head: string): boolean {
    const first = /^HTTP\/1\.([01]) (\d{3})(?: |\r|$)/.exec(head)
    if (first === null) return false
    this.status = Number(first[2])
    // An interim response: the final one follows.
    if (this.status < 200) return this.status !== 101
    const connection = /\r\nconnection:[ \t]*([^\r]*)/i.exec(head)?.[1]?.toLowerCase() ?? ''
    this.keepsOpen = first[1] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
    const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head)
    if (this.status === 204 || this.status === 304) this.expect('length', 0)
    else if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) this.state = 'chunk-size'
    else if (length !== null) this.expect('length', Number(length[1]))
    else this.expect('until-close', 0)
    return true
  }

  private expect(state: State, bytes: number): void {
    this.state = state
    this.left = bytes
  }

  private take(bytes: Buffer, at: number, length: number): number {
    const taken = Math.min(this.left, length - at)
    if (taken > 0) this.parts?.push(bytes.toString('latin1', at, at + taken))
    this.left -= taken
    return at + taken
  }

  private readLine(bytes: Buffer, at: number, length: number): number {
    const end = bytes.indexOf(10, at)
    const next = end < 0 || end >= length ? length : end + 1
    this.line += bytes.toString('latin1', at, next)
    return next
  }

  private endLine(line: string): Fed {
    if (this.state === 'chunk-size') {
      const size = /^[0-9a-f]{1,8}(?=[ \t]*(;|$))/i.exec(line)
      if (size === null) return 'bad'
      const bytes = Number.parseInt(size[0], 16)
      this.expect(bytes === 0 ? 'trailer' : 'chunk-data', bytes)
      return 'more'
    }
    if (this.state === 'trailer') return line === '' ? 'done' : 'more'
    this.state = 'chunk-size'
    return line === '' ? 'more' : 'bad'
  }
}
