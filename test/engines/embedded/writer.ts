import { customer, newFixa } from '../../../src/conformance/support.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'

/** A process that adds customers, says each one that is acknowledged, and is killed by the test. */
const [directory, prefix = '', inFlight = '1'] = process.argv.slice(2)
const engine = openEmbedded({ directory: directory! })
const { lists, members } = engine.allowlists
if ((await lists.get('a')) === undefined) await newFixa(engine.allowlists, 'a').catch(() => {})

async function loop(lane: number): Promise<void> {
  for (let i = lane; ; i += Number(inFlight)) {
    const id = `${prefix}${customer(i)}`
    const result = await members.add('a', id, {}, Date.now())
    if (!('token' in result)) throw new Error(result.outcome)
    process.stdout.write(`${id} ${result.token}\n`)
    if (i % 5 === 4) {
      const removed = await members.remove('a', id, Date.now())
      if ('token' in removed) process.stdout.write(`-${id} ${removed.token}\n`)
    }
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, (_, lane) => loop(lane)))
