import { connect, type Socket } from 'node:net'

/** What came back: the first answer with its body, and how many had another status. */
export interface Answers {
  status: number
  body: string
  others: number
}

const END_OF_HEAD = '\r\n\r\n'

/** Sends whole requests over connections that stay open, each after the answer to the one before. */
export async function sendAll(
  url: string,
  requests: readonly string[],
  connections: number,
): Promise<Answers> {
  const { hostname, port } = new URL(url)
  const answers: Answers = { status: 0, body: '', others: 0 }
  let next = 0
  const tell = (status: number, body: string) => {
    if (answers.status === 0) Object.assign(answers, { status, body })
    else if (status !== answers.status) answers.others++
  }
  const lane = () =>
    new Promise<void>((resolve, reject) => {
      const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let received = ''
      const send = () => {
        if (next < requests.length) socket.write(requests[next++]!, 'latin1')
        else socket.end()
      }
      socket
        .setEncoding('latin1')
        .on('connect', send)
        .on('error', reject)
        .on('close', () => resolve())
      socket.on('data', (piece: string) => {
        received += piece
        const end = received.indexOf(END_OF_HEAD)
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
        if (received.length < end + END_OF_HEAD.length + length) return
        tell(Number(received.slice(9, 12)), received.slice(end + END_OF_HEAD.length))
        received = ''
        send()
      })
    })
  await Promise.all(Array.from({ length: connections }, lane))
  return answers
}

export function requestText(method: string, path: string, key: string, body: unknown): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n`
  if (body === undefined) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}
