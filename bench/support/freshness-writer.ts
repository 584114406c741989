import { openCatraca } from '../../src/app/open-catraca.js'

/** The writing process of the proof of freshness: one write after the other, each told as soon as acknowledged. */
export interface Written {
  id: string
  removed: boolean
  token: string
  /** Epoch milliseconds, with fractions, of the acknowledgement. */
  at: number
}

const [directory, seconds] = process.argv.slice(2)
const { allowlists, close } = await openCatraca({
  store: `embedded:${directory}`,
  membership: { maxBytes: 0 },
})
const end = Date.now() + Number(seconds) * 1000
/** However slow the machine is. */
const LEAST_WRITES = 20
for (let i = 0; Date.now() < end || i < LEAST_WRITES; i++) {
  const id = `fresh-${i >> 1}`
  const removed = i % 2 === 1
  const { token } = removed ? await allowlists.remove('a', id) : await allowlists.add('a', id)
  const next = new Promise((resolve) => process.once('message', resolve))
  process.send!({ id, removed, token, at: performance.timeOrigin + performance.now() } satisfies Written)
  await next
}
await close()
process.disconnect()
