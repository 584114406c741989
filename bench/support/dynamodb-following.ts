import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from '../../src/app/open-catraca.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { NO_SINK } from '../../src/engines/dynamodb/feed/messages.js'
import { Relay } from '../../src/engines/dynamodb/feed/relay.js'
import { makeTables } from '../../test/support/dynamodb-engine.js'
import { CREDENTIALS, type DynamoServer, REGION } from '../../test/support/dynamodb-server.js'
import { each, type Units, unitsOf } from './dynamodb-units.js'
import { lines } from './proof.js'

interface Following {
  /** Units a second of a pod, with all settings as they are by default, all of its lists checked all the time. */
  pod: Units
  /** Of the relay, while nothing changes. */
  relay: Units
}

/** A pod that follows so many lists and a relay, both real, for a while. */
export async function countFollowing(
  server: DynamoServer,
  listCount: number,
  seconds: number,
): Promise<Following> {
  const { names } = await makeTables(server)
  const [counter, relayCounter] = [new CapacityCounts(), new CapacityCounts()]
  const relay = new Relay({
    client: server.client({ counter: relayCounter }),
    streams: { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS },
    tables: names,
    sink: NO_SINK,
  })
  await relay.start()
  const catraca = await openCatraca({
    store: server.url(names),
    dynamodb: { credentials: CREDENTIALS, counter },
  })
  try {
    const ids = Array.from({ length: listCount }, (_, i) => `list-${i}`)
    for (const id of ids) {
      await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
      await catraca.allowlists.import(id, lines(['somebody']), { format: 'text' })
      await catraca.allowlists.rebuild(id)
    }
    const checkFor = async (ms: number): Promise<void> => {
      for (const endsAt = performance.now() + ms; performance.now() < endsAt; await sleep(50)) {
        await catraca.allowlists.check('nobody', ids)
      }
    }
    await checkFor(3000)
    let pod: Units = { read: 0, write: 0 }
    const ofRelay = await unitsOf(relayCounter, async () => {
      pod = await unitsOf(counter, () => checkFor(1000 * seconds))
    })
    return { pod: each(pod, seconds), relay: each(ofRelay, seconds) }
  } finally {
    await catraca.close()
    await relay.stop()
  }
}
