import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { until as untilThere } from '../../../src/conformance/support.js'
import { ChangeLog } from '../../../src/engines/dynamodb/feed/change-log.js'
import { Freshness } from '../../../src/engines/dynamodb/feed/freshness.js'
import {
  type Board,
  EMPTY_BOARD,
  packBoard,
  unpackBoard,
} from '../../../src/engines/dynamodb/following/board.js'
import { BoardStore } from '../../../src/engines/dynamodb/following/board-store.js'
import { Interest } from '../../../src/engines/dynamodb/following/interest.js'
import { LeaderReads } from '../../../src/engines/dynamodb/following/leader-reads.js'
import { SharedFollowing } from '../../../src/engines/dynamodb/following/shared-following.js'
import { BEGINNING, type FeedScene, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const INTERVAL_MS = 20
const LONG_MS = 600_000
const PATIENT = 1000
/** Seldom enough that another process can write between two rounds of the leader. */
const RARELY_MS = 1500

const until = (isThere: () => boolean | Promise<boolean>) => untilThere('the board', isThere)

interface Pod {
  shared: SharedFollowing
  /** A log that asks the board first. */
  log: ChangeLog
  /** Moves the clock of this pod with which it waits for leaders. */
  elapse(ms: number): void
}

function board(count: number, change: Partial<Board> = {}): Board {
  const lists = Array.from({ length: count }, (_, i) => {
    const log = { incarnation: 2 ** 50 + i, mark: 2, heads: [i, 7] }
    return [`list-${i}`, { digest: `digest-${i}`, ...(i % 2 === 0 && { log }) }] as const
  })
  const bytes = Buffer.from([1, 2, 255])
  const entry = { listId: 'list-0', log: 1, sequence: 7, bytes, changeIds: ['a', '-b'] }
  return {
    ...EMPTY_BOARD,
    at: 5,
    isActive: true,
    until: { giant: 4 },
    lists: new Map(lists),
    entries: [entry],
    ...change,
  }
}

describe('the board', () => {
  it('comes back as it was, whole or in parts', () => {
    for (const count of [0, 3, 1000]) {
      const { root, parts } = packBoard(board(count))
      const { lists, ...rest } = unpackBoard(root, (name) => parts.get(name))!
      const { lists: expected, ...others } = board(count)
      assert.deepEqual(rest, others)
      assert.deepEqual(new Map([...lists].sort()), new Map([...expected].sort()))
      assert.ok([...parts.values()].every(({ length }) => length <= 4096))
    }
  })

  it('keeps the parts in which nothing changed, and tells nothing of a part that is missing', () => {
    const before = packBoard(board(1000))
    const changed = board(1000)
    const lists = new Map(changed.lists).set('list-3', { digest: 'other' })
    const after = packBoard({ ...changed, lists })
    const fresh = [...after.parts.keys()].filter((name) => !before.parts.has(name))
    assert.equal(fresh.length, 1)
    const known = unpackBoard(after.root, (name) => before.parts.get(name))!
    assert.ok(known.lists.size > 800 && known.lists.size < 1000)
    assert.equal(known.lists.has('list-3'), false)
  })

  it('is none if it is of another form, and a part of another form is missing', () => {
    const { root, parts } = packBoard(board(1000))
    const good = JSON.parse(inflateRawSync(root).toString())
    const changes = [
      ...[{ at: '1' }, { listsAt: null }, { active: 1 }, { until: null }, { until: { giant: 'x' } }],
      ...[{ entries: [['a', 1]] }, { entries: {} }, { lists: [['a']] }, { lists: [['a', 'b', 1, 2, 'x']] }],
      ...[{ parts: [1] }, { parts: 'x' }],
    ]
    const bad = changes.map((change) => deflateRawSync(JSON.stringify({ ...good, ...change })))
    const bomb = deflateRawSync(Buffer.alloc(100_000_000, ' '))
    for (const one of [...bad, bomb, Buffer.from('text'), new Uint8Array(), deflateRawSync('null')]) {
      assert.equal(
        unpackBoard(one, () => undefined),
        undefined,
      )
    }
    const [first] = parts.keys()
    const whole = unpackBoard(root, (name) => parts.get(name))!.lists.size
    for (const part of [bomb, Buffer.from('text'), deflateRawSync('[["a"]]')]) {
      const { lists } = unpackBoard(root, (name) => (name === first ? part : parts.get(name)))!
      assert.ok(lists.size > 0.8 * whole && lists.size < whole)
    }
  })
})

describe('what is asked for', () => {
  const seen = (count: number) => board(count, {}).lists
  const open = () => {
    let nowMs = 0
    return { interest: new Interest(() => nowMs, 5000), elapse: (ms: number) => (nowMs += ms) }
  }

  it('are lists that are used often, and those whose logs are followed', () => {
    const { interest, elapse } = open()
    for (let i = 0; i < 10; i++, elapse(60_000)) interest.use('seldom', false)
    for (let i = 0; i < 3; i++, elapse(1000)) interest.use('often', false)
    interest.use('followed', true)
    assert.deepEqual([...interest.all()].sort(), [
      ['followed', true],
      ['often', false],
    ])
    elapse(60_000)
    interest.use('often', false)
    assert.deepEqual([...interest.all().keys()], ['followed'])
    interest.asked({ at: 1, lists: ['mothers'] })
    assert.deepEqual([...interest.all().keys()].sort(), ['followed', 'others'])
  })

  it('is what is missing, and in turns the rest, some at a time', () => {
    const { interest } = open()
    for (let i = 0; i < 4000; i++) interest.use(`list-${i}`, i % 2 === 0)
    for (let round = 0; round < 2; round++) {
      for (let i = 1; i < 4000; i += 2) interest.use(`list-${i}`, false)
    }
    assert.equal(interest.lacks(seen(4000)), false)
    assert.deepEqual(interest.spelled(seen(4000), false), [])
    assert.deepEqual(interest.spelled(seen(3999), false), ['mlist-3999'])
    const asked = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const some = interest.spelled(seen(4000), true)
      assert.ok(some.join('').length <= 16_000)
      for (const one of some) asked.add(one)
    }
    assert.equal(asked.size, 4000)
    const missing = interest.spelled(new Map(), true)
    assert.ok(missing.length < 4000 && missing.join('').length <= 16_000)
  })
})

describe('shared following', async () => {
  const server = await startDynamo()
  const open: (() => unknown)[] = []
  after(async () => {
    for (const close of open.reverse()) await close()
  })

  const openScene = async (): Promise<FeedScene> => {
    const scene = await openFeed(server)
    open.push(() => scene.close())
    return scene
  }

  /** With much patience a pod does not claim the board while the leader gets no processor. */
  function openPod({ store, tables }: FeedScene, patience = 0, intervalMs = INTERVAL_MS): Pod {
    const { client, applied } = store
    let ahead = 0
    const elapsedMs = () => performance.now() + ahead
    const freshness = new Freshness({ client, tables, now: Date.now, probeIntervalMs: 1 })
    const own = new ChangeLog({ client, table: tables.allowlists, freshness, applied })
    const reads = new LeaderReads({
      ...{ client, tables, freshness, elapsedMs, serverNow: Date.now },
      position: (list) => own.position(list),
      listsEveryMs: INTERVAL_MS,
      keepMs: LONG_MS,
    })
    const shared = new SharedFollowing({
      ...{ reads, elapsedMs, now: Date.now, serverNow: Date.now, random: () => patience },
      ...{
        store: new BoardStore(client, tables.guards),
        intervalMs,
        usableMs: LONG_MS,
        leaseMs: 4000,
        oftenMs: LONG_MS,
      },
      report: () => {},
    })
    open.push(() => shared.close())
    const log = new ChangeLog({ client, table: tables.allowlists, freshness, applied, shared })
    return { shared, log, elapse: (ms) => (ahead += ms) }
  }

  /** Two pods of which the first leads and knows of the second, a list whose log both follow. */
  async function openPair(scene: FeedScene, intervalMs = INTERVAL_MS) {
    const { lists, members } = scene.core
    await lists.create({ id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt: '' }, Date.now())
    const { incarnation } = (await lists.get('a'))!
    const list = { id: 'a', incarnation }
    const [leader, reader] = [openPod(scene, 0, intervalMs), openPod(scene, PATIENT)]
    await leader.log.read(list, BEGINNING)
    const add = async (id: string) => {
      await members.add('a', id, {}, Date.now())
      await scene.drain()
    }
    const isOnBoard = (sequence: number) =>
      until(async () => {
        reader.elapse(6000)
        await scene.drain()
        const found = await reader.shared.log(list, [{ sequence, mark: 0 }])
        return found !== undefined && found.entries.length === 0
      })
    await isOnBoard(0)
    return { leader, reader, list, add, isOnBoard }
  }

  it('brings entries to a reader that reads no log, and proves the writes in them', async () => {
    const scene = await openScene()
    const { reader, list, add, isOnBoard } = await openPair(scene)
    await add('x')
    await add('y')
    await isOnBoard(2)
    const found = (await reader.shared.log(list, BEGINNING))!
    assert.deepEqual(
      found.entries.map(({ sequence }) => sequence),
      [1, 2],
    )
    assert.ok(found.entries.every(({ changeIds }) => changeIds.length === 1))
    scene.store.capacity.reset()
    assert.deepEqual(await wordsOf(reader.log, list, BEGINNING), [['+x'], ['+y']])
  })

  it('never says that a log is complete up to a later time than the probes do', async () => {
    const scene = await openScene()
    const { reader, list, isOnBoard } = await openPair(scene)
    await isOnBoard(0)
    // From here on no probe comes through, while the leader goes on writing.
    const drainedAt = Date.now()
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS))
      reader.elapse(1000)
      const askedAt = Date.now()
      const { ageMs } = (await reader.shared.log(list, BEGINNING))!
      assert.ok(askedAt - ageMs <= drainedAt, `${ageMs} ms at ${askedAt - drainedAt} ms`)
    }
  })

  it('leaves what does not connect to the reader itself: a position ahead, another layout, another list', async () => {
    const scene = await openScene()
    const { reader, list, isOnBoard } = await openPair(scene)
    await isOnBoard(0)
    const asks = [
      [list, [{ sequence: 0, mark: 2 }]],
      [list, [{ sequence: 3, mark: 0 }]],
      [list, [...BEGINNING, ...BEGINNING]],
      [{ ...list, incarnation: 1 }, BEGINNING],
      [{ ...list, id: 'b' }, BEGINNING],
    ] as const
    for (const [other, position] of asks) {
      assert.equal(await reader.shared.log(other, position), undefined)
    }
  })

  it('shows a change of a record as another digest, of an addition the same', async () => {
    const scene = await openScene()
    const { reader, add, isOnBoard } = await openPair(scene)
    const digest = async () => (await reader.shared.list('a', 0))?.digest
    const first = await digest()
    assert.ok(first !== undefined)
    await add('x')
    await isOnBoard(1)
    assert.equal(await digest(), first)
    await scene.core.lists.update('a', { name: 'other' }, Date.now())
    await until(async () => ![undefined, first].includes(await digest()))
  })

  it('has one leader, however many begin at once, and the next one when it ends', async () => {
    const scene = await openScene()
    await scene.core.lists.create(
      { id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt: '' },
      Date.now(),
    )
    const pods = Array.from({ length: 8 }, () => openPod(scene))
    const store = new BoardStore(scene.store.client, scene.tables.guards)
    await Promise.all(pods.map(({ shared }) => shared.list('a', 0)))
    const owner = async () => (await store.read())?.owner
    const first = await owner()
    assert.ok(first !== undefined)
    const leading = () => pods.filter(({ shared }) => shared.isLeading)
    assert.equal(leading().length, 1)
    const [leader] = leading()
    await leader!.shared.close()
    assert.equal(await owner(), undefined)
    await Promise.all(pods.map(({ shared }) => shared.list('a', 0)))
    await until(async () => ![undefined, first].includes(await owner()))
    assert.equal(leading().filter((pod) => pod !== leader).length, 1)
  })

  it('goes to another process when the leader stands still, and the old one gives up', async () => {
    const scene = await openScene()
    const { leader, reader, list } = await openPair(scene, RARELY_MS)
    const store = new BoardStore(scene.store.client, scene.tables.guards)
    // Somebody who never writes again has taken the board.
    const { version, board } = (await store.read())!
    await until(async () => {
      const now = (await store.read())!
      return store.write('dead', now.version, board, Date.now())
    })
    await until(() => !leader.shared.isLeading)
    assert.ok((await store.read())!.version > version)
    await reader.shared.log(list, BEGINNING)
    assert.equal(reader.shared.isLeading, false)
    reader.elapse(10_000 * PATIENT)
    await until(async () => {
      await reader.shared.log(list, BEGINNING)
      return reader.shared.isLeading
    })
  })
  it('goes to a reader when nobody can read the board, or when it was made too large', async () => {
    const scene = await openScene()
    const { leader, reader, list } = await openPair(scene, RARELY_MS)
    const { client } = scene.store
    await leader.shared.close()
    for (const data of [Buffer.from('no board'), deflateRawSync(Buffer.alloc(100_000_000, ' '))]) {
      const Item = { PK: { S: 'FOLLOWING' }, SK: { S: 'BOARD' }, version: { N: '900' }, data: { B: data } }
      await client.putItem('test', {
        TableName: scene.tables.guards,
        Item: { ...Item, owner: { S: 'dead' } },
      })
      // Meanwhile it reads for itself.
      const other = openPod(scene)
      assert.equal(await other.shared.log(list, BEGINNING), undefined)
      assert.deepEqual(await wordsOf(other.log, list, BEGINNING), [])
      other.elapse(10_000)
      await until(async () => {
        await other.shared.log(list, BEGINNING)
        return other.shared.isLeading
      })
      await other.shared.close()
    }
    await reader.shared.close()
  })

  it('leaves no lease behind when it ends while it takes it', async () => {
    const scene = await openScene()
    const store = new BoardStore(scene.store.client, scene.tables.guards)
    for (let i = 0; i < 10; i++) {
      const { shared } = openPod(scene)
      const asked = shared.list('a', 0)
      await new Promise((resolve) => setTimeout(resolve, i % 5))
      await shared.close()
      await asked
      assert.equal((await store.read())?.owner, undefined)
    }
  })
})
