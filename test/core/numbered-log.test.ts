import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type FollowOptions, LogFollower } from '../../src/core/numbered-log.js'

const POLL_MS = 500
const GRACE_MS = 100
const SILENT_MS = 2000

/** A log in memory, whose reads can be held back, and a follower on a clock that only the test moves. */
class Scene {
  /** What the follower said, in words. */
  readonly said: string[] = []
  head: number | string = 0
  reads = 0
  isFailing = false
  readonly entries = new Map<number, string>()
  readonly follower: LogFollower<string>
  private readonly timers: TestContext['mock']['timers']
  private now = 0
  private held: Promise<void> | undefined

  constructor(test: TestContext, kind: 'stored' | 'published', options: Partial<FollowOptions> = {}) {
    test.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    this.timers = test.mock.timers
    const read = (from: number, to: number) =>
      [...this.entries].filter(([number]) => number >= from && number <= to).map(([, entry]) => entry)
    const log = {
      head: () => this.readHead(),
      ...(kind === 'stored' && { read }),
      onEntry: (entry: string) => {
        if (entry === 'malformed') throw new SyntaxError(entry)
        this.said.push(entry)
      },
      onLost: () => this.said.push('lost'),
      onResumed: (wentBack: boolean) => this.said.push(wentBack ? 'resumed after going back' : 'resumed'),
    }
    this.follower = new LogFollower(log, {
      ...{ pollMs: POLL_MS, graceMs: GRACE_MS, time: () => this.now },
      ...options,
    })
    test.after(() => this.follower.stop())
  }

  private async readHead(): Promise<number> {
    this.reads++
    const found = Number(this.head)
    await this.held
    if (this.isFailing) throw new Error('the store is away')
    return found
  }

  append(...entries: string[]): void {
    for (const entry of entries) {
      this.head = Number(this.head) + 1
      this.entries.set(this.head, entry)
    }
  }

  /** Reads wait until this is undone. */
  holdReads(): () => Promise<void> {
    let release: () => void
    this.held = new Promise((resolve) => {
      release = resolve
    })
    return async () => {
      this.held = undefined
      release()
      await settled()
    }
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += GRACE_MS) {
      this.now += GRACE_MS
      this.timers.tick(GRACE_MS)
      await settled()
    }
  }

  /** Words since the last call. */
  news(): string[] {
    return this.said.splice(0)
  }

  async started(): Promise<this> {
    await this.follower.start()
    assert.deepEqual(this.news(), ['resumed'])
    return this
  }
}

/** After all work that waits for nothing but promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a follower of a numbered log', () => {
  it('begins at the end, and passes on every later entry once, at each poll', async (t) => {
    const log = new Scene(t, 'stored')
    log.append('old')
    assert.ok(log.follower.isLost)
    await log.started()
    log.append('a', 'b')
    await log.pass(POLL_MS - GRACE_MS)
    assert.deepEqual(log.news(), [])
    await log.pass(GRACE_MS)
    assert.deepEqual(log.news(), ['a', 'b'])
    await log.pass(2 * POLL_MS)
    assert.deepEqual([log.news(), log.reads, log.follower.position], [[], 4, 3])
  })

  it('follows a log that answers at once as soon as it is started', async (t) => {
    const log = { head: () => 7, read: () => [], onEntry() {}, onLost() {}, onResumed() {} }
    const follower = new LogFollower(log, { pollMs: POLL_MS })
    t.after(() => follower.stop())
    void follower.start()
    assert.deepEqual([follower.isLost, follower.position], [false, 7])
  })

  it('waits for an entry that is counted but not written yet', async (t) => {
    const log = await new Scene(t, 'stored').started()
    log.head = 1
    await log.pass(POLL_MS)
    log.entries.set(1, 'late')
    await log.pass(GRACE_MS)
    assert.deepEqual(log.news(), ['late'])
  })

  it('tells of a gap, of trimmed entries and of an unreadable one, and goes on behind them', async (t) => {
    const log = await new Scene(t, 'stored', { maxEntries: 3 }).started()
    const losses: Record<string, () => void> = {
      gap: () => {
        log.append('a')
        log.head = Number(log.head) + 1
      },
      trimmed: () => {
        log.append('a', 'b', 'c')
        log.entries.delete(Number(log.head) - 2)
      },
      'too many': () => log.append('a', 'b', 'c', 'd'),
      unreadable: () => log.append('malformed', 'a'),
    }
    for (const [name, lose] of Object.entries(losses)) {
      lose()
      await log.pass(POLL_MS + GRACE_MS)
      assert.deepEqual(log.news(), ['lost', 'resumed'], name)
      log.append('next')
      await log.pass(POLL_MS)
      assert.deepEqual(log.news(), ['next'], name)
    }
  })

  it('tells that the store went back, and follows the new history', async (t) => {
    const log = new Scene(t, 'stored')
    log.append('a', 'b')
    await log.started()
    log.entries.clear()
    log.head = 0
    log.append('new')
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['lost', 'resumed after going back'])
    log.append('newer')
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['newer'])
  })

  it('reads later what came while the log could not be read', async (t) => {
    const log = await new Scene(t, 'stored').started()
    log.isFailing = true
    log.append('a')
    await log.pass(10 * SILENT_MS)
    log.head = 'not a number'
    log.isFailing = false
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), [])
    log.head = 1
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['a'])
  })

  it('counts a failed read, and none for a while, as a loss where that was asked for', async (t) => {
    const log = await new Scene(t, 'stored', { silentAfterMs: SILENT_MS }).started()
    log.isFailing = true
    log.append('a')
    await log.pass(POLL_MS)
    assert.deepEqual([log.news(), log.follower.position], [['lost'], undefined])
    log.isFailing = false
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['resumed'])
    const release = log.holdReads()
    await log.pass(SILENT_MS - GRACE_MS)
    assert.deepEqual(log.news(), [])
    await log.pass(GRACE_MS)
    assert.deepEqual(log.news(), ['lost'])
    await release()
    assert.equal(log.news()[0], 'resumed')
  })

  it('fails to start when the first read fails, and begins with the first that succeeds', async (t) => {
    const log = new Scene(t, 'stored')
    log.isFailing = true
    await assert.rejects(log.follower.start(), /away/)
    log.isFailing = false
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['resumed'])
  })

  it('says nothing after it was stopped while a read is under way, and can start again', async (t) => {
    const log = await new Scene(t, 'stored').started()
    const release = log.holdReads()
    log.append('a')
    await log.pass(POLL_MS)
    const stopped = log.follower.stop()
    const restarted = log.follower.start()
    await release()
    await Promise.all([stopped, restarted])
    assert.deepEqual(log.news(), ['resumed'])
    await log.follower.stop()
    log.append('b')
    log.follower.wake()
    await log.pass(2 * POLL_MS)
    assert.deepEqual(log.news(), [])
  })

  it('reads once more for all wake-ups during a read, and not for polls', async (t) => {
    const log = await new Scene(t, 'stored').started()
    const release = log.holdReads()
    log.follower.wake()
    await log.pass(3 * POLL_MS)
    for (let i = 0; i < 5; i++) log.follower.wake()
    log.append('a')
    assert.equal(log.reads, 2)
    await release()
    assert.deepEqual([log.news(), log.reads], [['a'], 3])
  })

  it('does not poll while it is idle', async (t) => {
    let isIdle = true
    const log = await new Scene(t, 'stored', { isIdle: () => isIdle }).started()
    await log.pass(10 * POLL_MS)
    assert.equal(log.reads, 1)
    isIdle = false
    await log.pass(POLL_MS)
    assert.equal(log.reads, 2)
  })
})

describe('a follower of a log whose entries are published', () => {
  it('passes on what it hears in order, and ignores what has no number', async (t) => {
    const log = await new Scene(t, 'published').started()
    log.follower.hear(1, 'a')
    log.follower.hear(Number.NaN, 'foreign')
    log.follower.hear(2, 'b')
    log.head = 2
    await log.pass(POLL_MS)
    assert.deepEqual([log.news(), log.follower.position], [['a', 'b'], 2])
  })

  it('finds what it did not hear: by the next one, and by the number', async (t) => {
    const log = await new Scene(t, 'published').started()
    log.follower.hear(2, 'b')
    assert.deepEqual(log.news(), ['lost', 'resumed'])
    log.head = 3
    await log.pass(POLL_MS)
    log.follower.hear(3, 'arrives within the grace')
    await log.pass(POLL_MS)
    assert.deepEqual(log.news(), ['arrives within the grace'])
    log.head = 4
    await log.pass(POLL_MS + GRACE_MS)
    assert.deepEqual(log.news(), ['lost', 'resumed'])
    log.follower.hear(5, 'malformed')
    assert.deepEqual(log.news(), ['lost', 'resumed'])
    log.follower.hear(1, 'of a store that was emptied')
    assert.deepEqual(log.news(), ['lost', 'resumed after going back'])
  })

  it('does not take an entry that overtakes the number for a step back', async (t) => {
    const log = await new Scene(t, 'published').started()
    const release = log.holdReads()
    await log.pass(POLL_MS)
    log.follower.hear(1, 'a')
    await release()
    assert.deepEqual(log.news(), ['a'])
  })

  it('resumes after an interruption with a number that was read behind it', async (t) => {
    const log = new Scene(t, 'published')
    log.head = 5
    await log.started()
    const release = log.holdReads()
    await log.pass(POLL_MS)
    log.follower.interrupt()
    log.follower.interrupt()
    assert.deepEqual(log.news(), ['lost'])
    log.head = 1
    log.follower.reconnect()
    await release()
    assert.deepEqual(log.news(), ['resumed after going back'])
    log.follower.hear(2, 'a')
    assert.deepEqual(log.news(), ['a'])
  })

  it('knows the number of an own entry before it arrives, until the next read', async (t) => {
    const log = await new Scene(t, 'published').started()
    log.follower.reached(2)
    assert.equal(log.follower.position, 2)
    await log.pass(POLL_MS)
    assert.equal(log.follower.position, 0)
  })
})
