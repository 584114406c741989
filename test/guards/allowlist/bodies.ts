/** A file of ids, one on a line. */
export const ids = (...names: string[]): string => names.map((name) => `${name}\n`).join('')

/** The body as a stream, cut into pieces of this many bytes. */
export async function* pieces(body: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Gives these bytes, then waits until it is told what to do. */
export function pausing(first: string) {
  let fail: (error: Error) => void = () => {}
  let rest: (more: string) => void = () => {}
  let reach: () => void = () => {}
  let letGo: () => void = () => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const next = new Promise<string>((resolve, reject) => {
    fail = reject
    rest = resolve
  })
  next.catch(() => {})
  let given = 0
  const body: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => body,
    async next() {
      if (given++ === 0) return { done: false, value: Buffer.from(first) }
      if (given > 2) return { done: true, value: undefined }
      reach()
      return { done: false, value: Buffer.from(await next) }
    },
    async return() {
      letGo()
      return { done: true, value: undefined }
    },
  }
  return { body, fail, rest, reached, released }
}
