import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

type Body = Record<string, unknown>
interface Shard {
  ShardId: string
  ParentShardId?: string
  SequenceNumberRange?: object
}
interface Sent {
  dynamodb: { SequenceNumber: string; Keys: { PK: { S: string } } }
}

interface SplitProxy {
  readonly endpoint: string
  /** From here on new records of every shard are in two children of it. */
  split(): void
  /** What was asked for, in order: `iterator SHARD` and `end SHARD`. */
  readonly asked: string[]
}

const CHILDREN = ['-left', '-right']

/**
 * Stands between a reader and the streams of dynoxide, which never splits a shard, and shows each shard as one that
 * was split: the same records, the older in the parent, the newer in the two children by their partition key.
 */
export async function startSplitProxy(target: string): Promise<SplitProxy> {
  const asked: string[] = []
  /** The last record of each parent. */
  const ends = new Map<string, string>()
  const last = new Map<string, string>()
  let isSplit = false

  async function describe(body: Body): Promise<Body> {
    const answer = await forward(target, 'DescribeStream', body)
    const description = answer.StreamDescription as { Shards: Shard[] }
    if (!isSplit) return answer
    description.Shards = description.Shards.flatMap((shard) => [
      { ...shard, SequenceNumberRange: { EndingSequenceNumber: ends.get(shard.ShardId) ?? '0' } },
      ...CHILDREN.map((child) => ({ ShardId: shard.ShardId + child, ParentShardId: shard.ShardId })),
    ])
    return answer
  }

  async function iterator(body: Body): Promise<Body> {
    const shown = body.ShardId as string
    asked.push(`iterator ${shown}`)
    const real = shown.replace(/-(left|right)$/, '')
    const isFromStart = body.ShardIteratorType === 'TRIM_HORIZON' && real !== shown && ends.has(real)
    const start = isFromStart
      ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: ends.get(real) }
      : {}
    const answer = await forward(target, 'GetShardIterator', { ...body, ShardId: real, ...start })
    return { ShardIterator: `${shown}|${answer.ShardIterator}` }
  }

  async function records(body: Body): Promise<Body> {
    const [shown = '', inner = ''] = (body.ShardIterator as string).split('|')
    const real = shown.replace(/-(left|right)$/, '')
    const answer = await forward(target, 'GetRecords', { ShardIterator: inner })
    const all = (answer.Records ?? []) as Sent[]
    const newest = all.at(-1)?.dynamodb.SequenceNumber
    if (real === shown && !isSplit && newest !== undefined) last.set(real, newest)
    const next = { NextShardIterator: `${shown}|${answer.NextShardIterator as string}` }
    if (real !== shown) return { Records: all.filter((one) => isOf(shown, one)), ...next }
    if (!isSplit) return { Records: all, ...next }
    // Time enough for a child to be begun too early.
    await sleep(150)
    const end = ends.get(real) ?? '0'
    const old = all.filter((one) => one.dynamodb.SequenceNumber <= end)
    if (old.length === all.length && all.length > 0 && newest! < end) return { Records: old, ...next }
    asked.push(`end ${real}`)
    return { Records: old }
  }

  const handlers: Record<string, (body: Body) => Promise<Body>> = {
    DescribeStream: describe,
    GetShardIterator: iterator,
    GetRecords: records,
  }
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? ''
    const answer = await handlers[operation]!(JSON.parse(await textOf(incoming)) as Body)
    outgoing.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    endpoint: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    asked,
    split() {
      isSplit = true
      for (const [shard, sequence] of last) ends.set(shard, sequence)
    },
  }
}

function isOf(child: string, { dynamodb }: Sent): boolean {
  const sum = [...dynamodb.Keys.PK.S].reduce((total, character) => total + character.charCodeAt(0), 0)
  return child.endsWith(CHILDREN[sum % 2]!)
}

async function forward(target: string, operation: string, body: Body): Promise<Body> {
  const onward = request(target, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
      authorization:
        'AWS4-HMAC-SHA256 Credential=x/20260115/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x',
      'x-amz-date': '20260115T120000Z',
    },
  })
  onward.end(JSON.stringify(body))
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  return JSON.parse(await textOf(answer)) as Body
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message) text += String(chunk)
  return text
}
