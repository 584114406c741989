import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { RedisServers } from '../../test/support/redis/index.js'
import { demand, heard, lines } from './proof.js'
import { type FromChecker, type Seen, STABLE, type ToChecker } from './redis-checker.js'

const POD = fileURLToPath(new URL('./redis-checker.js', import.meta.url))
const PODS = 2
/** Beyond the timeout, for a machine with other work. */
const SLACK_MS = 1500
const GIVE_UP_MS = 60_000
const WRITER_CONNECT_TIMEOUT_MS = 5000
const WRITE_EVERY_MS = 10

interface Sizes {
  checksPerSecond: number
  commandTimeoutMs: number
  connectTimeoutMs: number
}

/** Pods that check and a writer, on servers that are about to suffer. */
export class Scene {
  readonly pods: Pod[] = []
  private readonly writer: Writer

  constructor(
    readonly redis: RedisServers,
    private readonly catraca: Catraca,
    private readonly sizes: Sizes,
  ) {
    this.writer = new Writer(catraca)
  }

  async begin(): Promise<void> {
    const { allowlists } = this.catraca
    await allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
    const ids = Array.from({ length: STABLE }, (_, i) => customer(i))
    await allowlists.import('a', lines(ids), { format: 'text' })
    await allowlists.rebuild('a')
    const { checksPerSecond, commandTimeoutMs, connectTimeoutMs } = this.sizes
    const args = [this.redis.storeUrl, ...[checksPerSecond, commandTimeoutMs, connectTimeoutMs].map(String)]
    for (let i = 0; i < PODS; i++) this.pods.push(new Pod(fork(POD, args, { execArgv: [] })))
    await Promise.all(this.pods.map((pod) => pod.answer('ready')))
  }

  /** The writer begins, or goes on. */
  write(): void {
    this.writer.start()
  }

  expectEmpty(): void {
    this.writer.stop()
    for (const pod of this.pods) pod.say({ type: 'empty' })
  }

  /** What the pods saw since the last time, summed up: errors are allowed, wrong answers and hanging calls are not. */
  async demandRight(when: string): Promise<Seen> {
    const seen = await this.tell()
    const sum = seen.reduce((a, b) => ({
      type: a.type,
      checks: a.checks + b.checks,
      wrong: a.wrong + b.wrong,
      errors: a.errors + b.errors,
      slowestMs: Math.max(a.slowestMs, b.slowestMs),
      unexpected: [...a.unexpected, ...b.unexpected],
    }))
    demand(sum.wrong === 0, `${when}: ${sum.wrong} wrong answers`)
    demand(sum.unexpected.length === 0, `${when}: ${sum.unexpected[0]}`)
    const limitMs = this.sizes.commandTimeoutMs + SLACK_MS
    demand(sum.slowestMs <= limitMs, `${when}: a check took ${Math.round(sum.slowestMs)} ms of ${limitMs}`)
    demand(when !== 'before' || sum.errors === 0, `${sum.errors} errors before anything was broken`)
    return sum
  }

  private tell(): Promise<Seen[]> {
    return Promise.all(
      this.pods.map((pod) => {
        const told = pod.answer('seen')
        pod.say({ type: 'tell' })
        return told
      }),
    )
  }

  /** Waits until no pod has had an error for so long since that moment; says when the calm began. */
  async untilCalm(sinceMs: number, calmMs: number): Promise<number> {
    const giveUpMs = performance.now() + GIVE_UP_MS
    for (;;) {
      const calm = await Promise.all(this.pods.map((pod) => pod.calmMs()))
      const shortest = Math.min(...calm, performance.now() - sinceMs)
      if (shortest >= calmMs) return performance.now() - shortest
      demand(performance.now() < giveUpMs, `no calm within ${GIVE_UP_MS} ms`)
      await sleep(100)
    }
  }

  /** With the writer at rest every pod must say what the store says. */
  async settle(emptied: boolean, mayLose: boolean): Promise<{ acknowledged: number; lost: number }> {
    await this.writer.stop()
    await sleep(1500)
    const truth = new Map<string, boolean>()
    for (const id of this.writer.asked()) {
      const answer = await this.catraca.allowlists.check(id, ['a'], { consistency: 'strong' })
      truth.set(id, answer.overallAllowed)
    }
    for (const [i, pod] of this.pods.entries()) {
      const told = pod.answer('answers')
      pod.say({ type: 'ask', ids: [...truth.keys()] })
      const { allowed } = await told
      ;[...truth].forEach(([id, expected], n) => {
        demand(allowed[n] === expected, `pod ${i} says ${allowed[n]} of ${id}, the store ${expected}`)
      })
    }
    const lost = emptied ? 0 : this.writer.lostOf(truth)
    demand(mayLose || lost === 0, `${lost} acknowledged writes were lost`)
    return { acknowledged: this.writer.acknowledged, lost }
  }

  async end(): Promise<void> {
    await this.writer.stop()
    for (const { process } of this.pods) process.kill('SIGKILL')
  }
}

export async function withScene<T>(
  redis: RedisServers,
  sizes: Sizes,
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  try {
    const catraca = await openCatraca({
      store: redis.storeUrl,
      sweepIntervalMs: 0,
      redis: {
        commandTimeoutMs: sizes.commandTimeoutMs,
        connectTimeoutMs: Math.max(sizes.connectTimeoutMs, WRITER_CONNECT_TIMEOUT_MS),
      },
    })
    const scene = new Scene(redis, catraca, sizes)
    try {
      await scene.begin()
      return await work(scene)
    } finally {
      await scene.end()
      await catraca.close()
    }
  } finally {
    await redis.stop()
  }
}

class Pod {
  constructor(readonly process: ChildProcess) {}

  say(message: ToChecker): void {
    this.process.send(message)
  }

  answer<Type extends FromChecker['type']>(type: Type): Promise<Extract<FromChecker, { type: Type }>> {
    return heard<FromChecker, Type>(this.process, type)
  }

  /** Asked on the side, without forgetting what was seen. */
  async calmMs(): Promise<number> {
    const told = this.answer('calm')
    this.say({ type: 'calm' })
    return (await told).ms
  }
}

/** Adds and removes, one after the other, whatever happens, and remembers what was acknowledged. */
class Writer {
  /** The last acknowledged state; undefined where the outcome of the last write is not known. */
  private readonly states = new Map<string, boolean | undefined>()
  private running: Promise<void> | undefined
  private stopped = false
  private turn = 0
  acknowledged = 0

  constructor(private readonly catraca: Catraca) {}

  start(): void {
    this.stopped = false
    this.running = this.run()
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.running
  }

  asked(): string[] {
    return [...this.states.keys()]
  }

  lostOf(truth: ReadonlyMap<string, boolean>): number {
    return [...this.states].filter(([id, state]) => state !== undefined && truth.get(id) !== state).length
  }

  private async run(): Promise<void> {
    const { allowlists } = this.catraca
    for (; !this.stopped; this.turn++) {
      const i = this.turn
      const id = `changing-${i % 700}`
      const add = Math.floor(i / 700) % 2 === 0
      try {
        await (add ? allowlists.add('a', id) : allowlists.remove('a', id))
        this.states.set(id, add)
        this.acknowledged++
      } catch (error) {
        const isOutage = isCatracaError(error, 'ENGINE_UNAVAILABLE')
        demand(isOutage || isCatracaError(error, 'UNKNOWN_OUTCOME'), `a write failed with ${error}`)
        if (!isOutage) this.states.set(id, undefined)
      }
      await sleep(WRITE_EVERY_MS)
    }
  }
}
