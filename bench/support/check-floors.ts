import { randomBytes } from 'node:crypto'
import { contains16, fuseShape } from '../../src/guards/allowlist/membership/fuse.js'
import { CustomerProbe, hashKey } from '../../src/guards/allowlist/membership/hash.js'

/** What no check in process can do without, with nothing around it. Each returns something, so that it is not optimized away. */
export function checkFloors(members: number): Record<string, (ids: readonly string[]) => unknown> {
  const probe = new CustomerProbe()
  const key = hashKey(randomBytes(16))
  const { slotCount, segmentCount, segmentLengthLog2 } = fuseShape(members)
  const slots = new Uint16Array(slotCount)
  for (let i = 0; i < slotCount; i++) slots[i] = Math.random() * 65_536
  const hash = (id: string): void => {
    probe.setId(id)
    probe.hash(key)
  }
  return {
    'hash of the id': (ids) => {
      let sum = 0
      for (const id of ids) {
        hash(id)
        sum ^= probe.lo
      }
      return sum
    },
    'hash, and three reads of a filter of that size': (ids) => {
      let found = 0
      for (const id of ids) {
        hash(id)
        if (contains16(slots, 1, segmentCount, segmentLengthLog2, probe.hi, probe.lo)) found++
      }
      return found
    },
    'promise with the answer, awaited': async (ids) => {
      let allowed = 0
      for (const id of ids) if ((await answerOf(id)).overallAllowed) allowed++
      return allowed
    },
  }
}

const CHECKED_AT = '2026-01-01T00:00:00.000Z'

async function answerOf(customerId: string) {
  const allowed = customerId.charCodeAt(0) < 0x38
  const vip = { allowlistId: 'fixa', allowed, type: 'FIXA', reason: 'MEMBER', checkedAt: CHECKED_AT }
  const wave = { allowlistId: 'wave', allowed, type: 'ONDA', reason: 'IN_WAVE', checkedAt: CHECKED_AT }
  return { customerId, results: [vip, wave], overallAllowed: allowed }
}
