// @ts-check
// The cases that every engine with locks must pass. Run: node --test examples/own-engine/conformance.test.mjs
import { after, describe, it } from 'node:test'
import { ManualClock } from 'catraca'
import { lockSuites, register } from 'catraca/conformance'
import { openMemoryLocks } from './memory-locks.mjs'

/** Opens a fresh, empty store twice. Time is moved by hand. */
async function openPair() {
  const rows = new Map()
  const clock = new ManualClock(Date.UTC(2030, 0, 1))
  const [one, two] = [openMemoryLocks(rows), openMemoryLocks(rows)]
  const scene = {
    now: () => clock.now(),
    elapse: async (/** @type {number} */ ms) => void clock.advance(ms),
    lose: async (/** @type {string} */ name) => void rows.delete(name),
  }
  return {
    one: { locks: one.locks, ...scene },
    two: { locks: two.locks, ...scene },
    async close() {
      for (const engine of [one, two]) await engine.close()
    },
  }
}

for (const suite of lockSuites) register({ describe, it, after }, 'memory-locks', suite, openPair)
