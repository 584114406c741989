/**
 * The fast way of answering hot operations must not be told from the ordinary one. Random requests, most of them nearly
 * right, go to two servers over one store: one that answers on the raw connection, and one without a fast path.
 * Status, headers, body and what happens to the connection must be the same.
 * Arguments: --requests 1000000 --seed 1
 */
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import type { Catraca } from '../../src/app/open-catraca.js'
import { seeded } from '../../src/cli/load/arrivals.js'
import { CatracaError } from '../../src/core/errors.js'
import { hashKey } from '../../src/guards/access/index.js'
import { type RunningServer, startServer } from '../../src/server/index.js'
import { openPatiently } from '../../test/support/patient.js'
import { HttpLine } from '../support/http-line.js'
import { BROKEN, DOWN, KEYS, type Random, randomRequest, SLOW } from '../support/http-requests.js'
import { demand, type Figures, whenStarted } from '../support/proof.js'

const SIZES = { requests: 1_000_000, seed: 1 }
type Sizes = typeof SIZES

const PATHS = ['off', 'connection'] as const
const AT_ONCE = 64
/** Enough for every answer: which of an answer and the next piece comes first must not depend on the path. */
const TURNS_PER_PIECE = 16
/**
 * Requests behind others, and pieces that are parsed in slices, get their turns by the time that others take, so a busy
 * machine needs many.
 */
const TURNS_IN_QUEUE = 400
/** As much as a server parses at once. */
const SMALL_PIECE = 512
const LAST_TURNS = 20_000
const HOUR_MS = 3_600_000
const PROBE = 'GET /live HTTP/1.1\r\nHost: x\r\nx-request-id: probe\r\n\r\n'

/** The pieces in which a caller sends its requests, and whether it still speaks after them. */
interface Talk {
  requests: number
  /** All requests stand in one piece, or in two. */
  isPipelined: boolean
  pieces: string[]
  /** Right after the last piece; otherwise it asks once more, to see whether anybody listens. */
  hangsUpAtOnce: boolean
}

function randomTalk(random: Random): Talk {
  const requests = 1 + Math.floor(random() ** 3 * 5)
  const texts = Array.from({ length: requests }, () => randomRequest(random))
  const isPipelined = random() < 0.15
  const pieces = isPipelined ? [texts.join('')] : texts
  const cut = random() < 0.1 ? pieces.flatMap((piece) => cutUp(random, piece)) : pieces
  return { requests, isPipelined, pieces: cut, hangsUpAtOnce: random() < 0.25 }
}

function cutUp(random: Random, text: string): string[] {
  const at = Math.floor(random() * text.length)
  return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== '')
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}

/** What the server says in this talk, and whether it listened to the end. */
async function hold({ isPipelined, pieces, hangsUpAtOnce }: Talk, { app }: RunningServer): Promise<string> {
  const line = new HttpLine()
  app.server.emit('connection', line)
  for (const [i, piece] of pieces.entries()) {
    line.send(piece)
    if (hangsUpAtOnce && i === pieces.length - 1) line.hangUp()
    await turns(isPipelined || piece.length > SMALL_PIECE ? TURNS_IN_QUEUE : TURNS_PER_PIECE)
  }
  if (!hangsUpAtOnce) {
    line.send(PROBE)
    await turns(TURNS_PER_PIECE)
    line.hangUp()
  }
  for (let i = 0; i < LAST_TURNS && !line.isOver; i++) await turn()
  const said = `${normal(line.received)}\n[${line.isOver ? 'closed' : 'open'}]`
  line.destroy()
  return said
}

/** Without what differs from one answer to the next: times, and the ids that the server makes. */
function normal(said: string): string {
  return said
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .map((answer) => {
      const id = /"requestId":"([0-9a-f]{12}-\w+)"/.exec(answer)?.[1] ?? ''
      const bytes = answer.length - answer.indexOf('\r\n\r\n') - 4
      return answer
        .replace(/^Date: .*$/m, 'Date')
        .replace(/"(checkedAt|leaseId)":"[^"]+"/g, '"$1"')
        .replace(/"(ageMs|remaining|resetMs|retryAfterMs)":\d+/g, '"$1"')
        .replace(/(;r=|;t=|retry-after: |again in )\d+/g, '$1')
        .replace(/x-request-id: [0-9a-f]{12}-\w+/, 'x-request-id: new')
        .replace(/"requestId":"[0-9a-f]{12}-\w+"/, '"requestId":"new"')
        .replace(/content-length: (\d+)/, (_, length) =>
          Number(length) === bytes ? 'content-length' : `content-length: ${Number(length) - id.length}`,
        )
    })
    .join('')
}

/** A store that takes its time with one customer, fails for another, and a fault of ours for a third. */
function troubled({ allowlists }: Catraca): void {
  const check = allowlists.check.bind(allowlists)
  const checkNow = allowlists.checkNow.bind(allowlists)
  const down = async () => {
    await turns(2)
    throw new CatracaError('ENGINE_UNAVAILABLE', 'the store does not answer')
  }
  const broken = () => {
    throw new Error('wires')
  }
  Object.assign(allowlists, {
    check: async (...asked: Parameters<typeof check>) => {
      if (asked[0] === DOWN) return down()
      if (asked[0] === BROKEN) return broken()
      if (asked[0] === SLOW) await turns(3)
      return check(...asked)
    },
    checkNow: (...asked: Parameters<typeof checkNow>) => {
      if (asked[0] === DOWN) return down()
      if (asked[0] === BROKEN) return broken()
      return asked[0] === SLOW ? turns(3).then(() => checkNow(...asked)) : checkNow(...asked)
    },
  })
}

const APP_SCOPES = ['check', 'limits', 'cache', 'locks', 'idempotency', 'tokens:check'] as const

const bootstrapKeys = () => [
  { name: 'app', scopes: [...APP_SCOPES], hash: hashKey(KEYS.app) },
  { name: 'reader', scopes: ['read' as const], hash: hashKey(KEYS.reader) },
]

export async function run(given: Partial<Sizes>): Promise<Figures> {
  const { requests, seed } = { ...SIZES, ...given }
  const cache = { spaces: [{ name: 'space', ttlMs: HOUR_MS }] }
  const catraca = await openPatiently({ store: 'memory:', cache })
  const logger = pino({ level: 'silent' })
  const servers: RunningServer[] = []
  try {
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const config = { strategy: 'PERCENTAGE', percentage: 1 } as const
    await catraca.allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await catraca.allowlists.add('vip', 'ana')
    const limits = { rpm: { capacity: 1_000_000, refillPeriodSeconds: 1 } }
    await catraca.limits.setConfig({ level: 'system', resource: 'api' }, { limits })
    await catraca.cache.set('space', 'known', { name: 'Zo\u00eb', many: 'x'.repeat(300) })
    await catraca.tokens.revoke({ jti: 'gone', expiresAt: new Date(Date.now() + HOUR_MS) })
    troubled(catraca)
    for (const checkFastPath of PATHS) {
      servers.push(await startServer(catraca, { port: 0, logger, bootstrapKeys, checkFastPath }))
    }
    return await compare(servers, requests, seeded(seed))
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await catraca.close()
  }
}

async function compare(servers: RunningServer[], requests: number, random: Random): Promise<Figures> {
  const figures: Figures = {
    requests: 0,
    connections: 0,
    'answers 200': 0,
    'answers 4xx': 0,
    'answers 5xx': 0,
  }
  const ordinary = countRequests(servers[0]!)
  const handedOver = countRequests(servers[1]!)
  const one = async (talk: Talk) => {
    const [expected, ...others] = await Promise.all(servers.map((server) => hold(talk, server)))
    others.forEach((said, i) => {
      const told = `${JSON.stringify(talk)}\n--- ordinary\n${expected}\n--- ${PATHS[i + 1]}\n${said}`
      demand(said === expected, `the answers differ:\n${told}`)
    })
    figures.requests! += talk.requests
    figures.connections!++
    for (const [, status] of expected!.matchAll(/^HTTP\/1\.1 (\d)/gm)) {
      const kind = status === '2' ? 'answers 200' : `answers ${status}xx`
      figures[kind] = (figures[kind] ?? 0) + 1
    }
  }
  while (figures.requests! < requests) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => one(randomTalk(random))))
  }
  figures['answered on the connection'] = ordinary() - handedOver()
  demand(figures['answered on the connection'] > 0, 'nothing was answered on the connection')
  return figures
}

/** How many requests Node's HTTP server got to see. */
function countRequests({ app }: RunningServer): () => number {
  let seen = 0
  app.server.prependListener('request', () => seen++)
  return () => seen
}

await whenStarted(import.meta.url, 'http-paths', SIZES, run)
