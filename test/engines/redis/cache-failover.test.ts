import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { heard, item, now, readOne, SPACE } from '../../../src/conformance/cache/support.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startCluster, startSentinel, until } from '../../support/redis/index.js'

/** The server that numbers the notices dies: that is noticed, and what others do afterwards is heard of again. */
for (const [name, start] of [
  ['Sentinels', startSentinel],
  ['a cluster', startCluster],
] as const) {
  describe(`caches behind ${name} that fail over`, () => {
    let servers: RedisServers
    let engines: RedisEngine[]
    before(async () => {
      servers = await start()
      engines = await Promise.all([
        openRedis(servers.url, PATIENT_REDIS),
        openRedis(servers.url, PATIENT_REDIS),
      ])
    })
    after(async () => {
      for (const engine of engines) await engine.close()
      await servers.stop()
    })

    it('tells that notices may be missed, and hears them again', async () => {
      const [one, two] = engines.map(({ cache }) => cache) as [RedisEngine['cache'], RedisEngine['cache']]
      const { notices, stop } = heard(two)
      await one.write(SPACE, [item('a', '1')], now())
      await until('the first notice', () => notices.at(-1)?.kind === 'changed')
      for (const primary of await servers.primaries()) {
        const holdsNumber = await primary.say('EXISTS', 'cache:notices').catch(() => 0)
        if (holdsNumber === 1) await primary.kill()
      }
      // In a cluster another server is listened to: there may be nothing to miss.
      if (start === startSentinel)
        await until('the loss', async () => notices.some(({ kind }) => kind === 'lost'))
      await until('the return', async () => ['changed', 'resumed'].includes(notices.at(-1)!.kind))
      const heardBefore = notices.length
      await until('a write', () =>
        one.write(SPACE, [item('b', '2')], now()).then(
          () => true,
          () => false,
        ),
      )
      const later = () => notices.slice(heardBefore)
      await until('its notice', async () => later().some(({ kind }) => kind === 'changed' || kind === 'lost'))
      assert.equal(await readOne(two, 'b'), '2')
      stop()
    })
  })
}
