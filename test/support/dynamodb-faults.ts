import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { atEnd } from './at-end.js'

/** What DynamoDB, or the way to it, does on demand; each as AWS documents it. */
export type Fault =
  | { kind: 'throttled'; code?: 'ThrottlingException' | 'ProvisionedThroughputExceededException' }
  /** A transaction is cancelled; one code for each of its items, `None` where nothing is said. */
  | { kind: 'cancelled'; codes: string[] }
  /** Of a batch only the first `processed` are done; the others come back as unprocessed. */
  | { kind: 'unprocessed'; processed: number }
  /** Of a batch of statements only the first `processed` are done; the others fail, each by itself, with `code`. */
  | { kind: 'statements'; processed: number; code: string }
  | { kind: 'server-error' }
  /** The connection breaks off: before the engine has heard anything, or after it has done everything. */
  | { kind: 'reset'; when: 'before' | 'after' }
  | { kind: 'delay'; ms: number }

interface FaultOptions {
  /** Only calls of this operation, such as `PutItem`. */
  operation?: string
  /** So many calls, then it is over; until `clear` when absent. */
  times?: number
}

export interface FaultProxy {
  readonly endpoint: string
  /** From now on; the faults given first are used up first. */
  inject(fault: Fault, options?: FaultOptions): void
  clear(): void
  /** Requests seen, by operation. */
  seen(operation: string): number
  close(): Promise<void>
}

interface Pending extends FaultOptions {
  fault: Fault
}

type Batch = Record<string, unknown[] | { Keys: unknown[] }>

const PREFIX = 'com.amazonaws.dynamodb.v20120810#'

/** Stands between a client and an emulator. It ends with the tests of this file. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let pending: Pending[] = []
  const counts = new Map<string, number>()
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? ''
    counts.set(operation, (counts.get(operation) ?? 0) + 1)
    const body = await bodyOf(incoming)
    const chosen = pending.find((one) => one.operation === undefined || one.operation === operation)
    if (chosen?.times !== undefined && --chosen.times === 0) pending = pending.filter((one) => one !== chosen)
    // What is held up may arrive when the emulator is gone.
    await act(chosen?.fault, target, incoming, body, outgoing).catch(() => incoming.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    // In this order: a connection that comes in between would be waited for.
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  atEnd(close)
  return {
    endpoint: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    inject: (fault, options = {}) => void pending.push({ fault, ...options }),
    clear: () => {
      pending = []
    },
    seen: (operation) => counts.get(operation) ?? 0,
    close,
  }
}

async function act(
  fault: Fault | undefined,
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<void> {
  switch (fault?.kind) {
    case 'throttled': {
      const code = fault.code ?? 'ThrottlingException'
      return reply(outgoing, 400, { __type: PREFIX + code, message: 'Rate of requests exceeds the allowed' })
    }
    case 'cancelled':
      return reply(outgoing, 400, cancelled(fault.codes))
    case 'server-error':
      return reply(outgoing, 500, {
        __type: `${PREFIX}InternalServerError`,
        message: 'Internal server error',
      })
    case 'unprocessed':
      return partOf(fault.processed, target, incoming, body, outgoing)
    case 'statements':
      return someStatements(fault, target, incoming, body, outgoing)
    case 'reset':
      if (fault.when === 'after') await forward(target, incoming, body)
      breakOff(incoming.socket)
      return
    case 'delay':
      // Who has given up is not waited for at the end.
      await sleep(fault.ms, undefined, { ref: false })
  }
  const { status, text, headers } = await forward(target, incoming, body)
  outgoing.writeHead(status, headers).end(text)
}

/**
 * A client whose time is up may have closed its side meanwhile. Then our end is on its way too, and such a socket must
 * not be reset: Node 20 keeps its handle for ever, and the process runs in circles when it should end.
 */
function breakOff(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

function cancelled(codes: string[]): object {
  const messages: Record<string, string> = { TransactionConflict: 'Transaction is ongoing for the item' }
  return {
    __type: `${PREFIX}TransactionCanceledException`,
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    CancellationReasons: codes.map((Code) => ({ Code, ...(messages[Code] && { Message: messages[Code] }) })),
  }
}

/** Changes what is forwarded, so that it suits only an emulator that checks no signatures: dynoxide. */
async function partOf(
  processed: number,
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<void> {
  const asked = JSON.parse(body.toString()) as { RequestItems: Batch }
  const [done, left] = split(asked.RequestItems, processed)
  let answer: Record<string, unknown> = { Responses: {} }
  if (processed > 0) {
    const { status, text, headers } = await forward(
      target,
      incoming,
      Buffer.from(JSON.stringify({ ...asked, RequestItems: done })),
    )
    if (status !== 200) return void outgoing.writeHead(status, headers).end(text)
    answer = JSON.parse(text.toString()) as Record<string, unknown>
  }
  const name = String(incoming.headers['x-amz-target']).endsWith('BatchGetItem')
    ? 'UnprocessedKeys'
    : 'UnprocessedItems'
  return reply(outgoing, 200, { ...answer, [name]: left })
}

/** As `partOf`: for dynoxide. */
async function someStatements(
  { processed, code }: Extract<Fault, { kind: 'statements' }>,
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<void> {
  const asked = JSON.parse(body.toString()) as { Statements: object[] }
  const done = asked.Statements.slice(0, processed)
  let Responses: object[] = []
  if (done.length > 0) {
    const part = Buffer.from(JSON.stringify({ ...asked, Statements: done }))
    const answer = JSON.parse((await forward(target, incoming, part)).text.toString())
    Responses = (answer as { Responses: object[] }).Responses
  }
  const failed = asked.Statements.slice(processed).map(() => ({ Error: { Code: code, Message: code } }))
  return reply(outgoing, 200, { Responses: [...Responses, ...failed] })
}

function split(batch: Batch, processed: number): [done: Batch, left: Batch] {
  const [done, left]: [Batch, Batch] = [{}, {}]
  let room = processed
  for (const [table, entry] of Object.entries(batch)) {
    const list = Array.isArray(entry) ? entry : entry.Keys
    const take = Math.min(room, list.length)
    room -= take
    const part = (some: unknown[]) => (Array.isArray(entry) ? some : { ...entry, Keys: some })
    if (take > 0) done[table] = part(list.slice(0, take))
    if (take < list.length) left[table] = part(list.slice(take))
  }
  return [done, left]
}

function reply(outgoing: ServerResponse, status: number, value: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(value))
}

interface Forwarded {
  status: number
  headers: Record<string, string>
  text: Buffer
}

/** Headers as they were, `host` too: it is signed. */
async function forward(target: string, incoming: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const headers = { ...incoming.headers, 'content-length': String(body.length) }
  const onward = request(new URL(incoming.url ?? '/', target), { method: incoming.method, headers })
  onward.end(body)
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  return {
    status: answer.statusCode ?? 502,
    headers: { 'content-type': answer.headers['content-type'] ?? 'application/x-amz-json-1.0' },
    text: await bodyOf(answer),
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
