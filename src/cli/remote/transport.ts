import { CatracaError } from '../../core/errors.js'
import { problemToError, unreachable } from './problem.js'
import { upload } from './upload.js'

export interface Call {
  query?: Record<string, string | number | undefined>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface UploadCall {
  query?: Record<string, string | undefined>
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
  signal?: AbortSignal | undefined
}

/** Sends requests to one server with its API key, and turns failures into `CatracaError`. */
export class HttpTransport {
  private readonly base: string

  constructor(
    url: string,
    private readonly key: () => string | undefined,
  ) {
    this.base = url.replace(/\/+$/, '')
  }

  async json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.send(method, path, call)
    const text = await this.reading(() => response.text())
    if (text === '') return undefined as T
    try {
      return JSON.parse(text) as T
    } catch (cause) {
      throw new CatracaError('ENGINE_UNAVAILABLE', `${this.base} answered something that is not JSON`, {
        cause,
      })
    }
  }

  async *download(path: string, headers: Record<string, string>): AsyncGenerator<Uint8Array> {
    const response = await this.send('GET', path, { headers })
    const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
    if (reader === undefined) return
    try {
      while (true) {
        const { done, value } = await this.reading(() => reader.read())
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel().catch(() => {})
    }
  }

  async upload<T>(path: string, call: UploadCall): Promise<T> {
    const url = this.url(path, call.query ?? {})
    const headers = { ...call.headers, ...this.authorization() }
    const { status, contentType, text } = await upload(url, headers, call.body, call.signal).catch(
      (error) => {
        throw error instanceof CatracaError ? error : unreachable(this.base, error)
      },
    )
    if (status < 200 || status > 299) throw problemToError(this.base, status, contentType, text)
    return JSON.parse(text) as T
  }

  private async send(
    method: string,
    path: string,
    { query = {}, body, headers, signal }: Call,
  ): Promise<Response> {
    const init: RequestInit = {
      method,
      // `fetch` would repeat a redirected POST as a GET.
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...this.authorization(),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }
    const response = await this.reading(() => fetch(this.url(path, query), init))
    if (response.ok) return response
    const text = await this.reading(() => response.text())
    throw problemToError(this.base, response.status, response.headers.get('content-type') ?? '', text)
  }

  private url(path: string, query: Record<string, string | number | undefined>): URL {
    const url = new URL(this.base + path)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }

  private authorization(): Record<string, string> {
    const key = this.key()
    return key === undefined ? {} : { authorization: `Bearer ${key}` }
  }

  private async reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw unreachable(this.base, error)
    }
  }
}
