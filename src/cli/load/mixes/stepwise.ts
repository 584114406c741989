import type { LoadRequest } from '../request.js'
import { type Mix, operation } from './mix.js'

/** A token that the server returned, to be used in a later request. */
interface Held {
  name: string
  token: string
}

/** A body that is not JSON gives no token, and the next step is skipped. */
function tokenIn(body: string): string | undefined {
  try {
    const { token } = JSON.parse(body) as { token?: unknown }
    return typeof token === 'string' ? token : undefined
  } catch {
    return undefined
  }
}

const MAX_REMEMBERED = 10_000

/** Claim, complete, claim again: a third of the requests each. */
export const idempotencyMix: Mix = {
  description: 'claim, complete and replay, a third of each',
  open({ origin, runId }) {
    const claim = operation('idempotency: claim', 201)
    const complete = operation('idempotency: complete', 200)
    const replay = operation('idempotency: replay', 200)
    const claimed: Held[] = []
    const completed: string[] = []
    let made = 0
    const path = (name: string) => `/idempotency/LOAD/${name}`
    const ask = (name: string) => origin.send('POST', path(name), '{"payload":{"from":"load"}}')
    const completion = ({ name, token }: Held): LoadRequest => ({
      operation: complete,
      text: origin.send(
        'POST',
        `${path(name)}/complete`,
        JSON.stringify({ token, response: { done: true } }),
      ),
      answered: (status) => {
        if (status === 200 && completed.length < MAX_REMEMBERED) completed.push(name)
      },
    })
    return () => {
      const done = completed.pop()
      if (done !== undefined) return { operation: replay, text: ask(done) }
      const held = claimed.pop()
      if (held !== undefined) return completion(held)
      const name = `${runId}-${made++}`
      return {
        operation: claim,
        text: ask(name),
        answered: (status, body) => {
          const token = status === 201 ? tokenIn(body) : undefined
          if (token !== undefined) claimed.push({ name, token })
        },
      }
    }
  },
}

/** Each lock is acquired and released without contention, because a refusal says nothing about speed. */
export const locksMix: Mix = {
  description: 'acquire and release, over names of their own',
  open({ origin, runId }) {
    const acquire = operation('locks: acquire', 201)
    const release = operation('locks: release', 204)
    const held: Held[] = []
    // Names are used again, because the store keeps the fence of each for a day.
    const free: string[] = []
    let made = 0
    return () => {
      const last = held.pop()
      if (last !== undefined) {
        const { name, token } = last
        const text = origin.send('POST', `/locks/${name}/release`, JSON.stringify({ token }))
        return {
          operation: release,
          text,
          answered: (status) => {
            if (status === 204) free.push(name)
          },
        }
      }
      const name = free.pop() ?? `${runId}-${made++}`
      return {
        operation: acquire,
        text: origin.send('POST', `/locks/${name}`, '{"ttlMs":30000}'),
        answered: (status, body) => {
          const token = status === 201 ? tokenIn(body) : undefined
          if (token !== undefined) held.push({ name, token })
        },
      }
    }
  },
}
