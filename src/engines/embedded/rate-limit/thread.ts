import { parentPort, workerData } from 'node:worker_threads'
import { type PackedError, packError } from '../../../core/packed-error.js'
import { every } from '../../../core/timers.js'
import type { LeaseUse } from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import { Environment, type EnvironmentOptions } from '../lmdb/environment.js'
import { LimitCounters } from './counters.js'
import { type PackedTake, packAnswer, QuestionReader } from './wire.js'

/**
 * The counter thread. Its environment is separate, so no decision waits for a list write to reach the disk. It gets
 * the calls of an event-loop turn in one message, as text, which is cheaper than copying objects.
 */
export type LimitCall =
  | { verb: 'take'; take: PackedTake }
  | { verb: 'adjust'; lease: LeaseUse; adjustment: string; now: number }
  | { verb: 'giveBack'; lease: LeaseUse; now: number }
  | { verb: 'reset'; subject: Subject }
  | { verb: 'sweep'; now: number }
export type ToLimitThread = { id: number; call: LimitCall } | 'close'
export type FromLimitThread = { id: number; result: unknown } | { id: number; error: PackedError } | 'freed'

const FREED_POLL_MS = 250

const port = parentPort!
const environment = Environment.open(workerData as EnvironmentOptions)
const counters = new LimitCounters(environment)
const reader = new QuestionReader()
const say = (message: FromLimitThread): void => port.postMessage(JSON.stringify(message))

function run(call: LimitCall): Promise<unknown> {
  switch (call.verb) {
    case 'take':
      return counters.take(reader.read(call.take)).then((answers) => answers.map(packAnswer))
    case 'reset':
      return counters.reset(call.subject)
    case 'sweep':
      return counters.sweep(call.now)
    case 'adjust':
      return counters.adjust(call.lease, call.adjustment, call.now)
    case 'giveBack':
      return counters.giveBack(call.lease, call.now)
  }
}

async function answer(id: number, call: LimitCall): Promise<void> {
  try {
    say({ id, result: await run(call) })
  } catch (error) {
    say({ id, error: packError(error) })
  }
}

let freed = counters.freed()
const poll = every(() => {
  const before = freed
  freed = counters.freed()
  if (freed !== before) say('freed')
}, FREED_POLL_MS).unref()

port.on('message', (text: string) => {
  const message = JSON.parse(text) as ToLimitThread
  if (message !== 'close') {
    void answer(message.id, message.call)
    return
  }
  clearInterval(poll)
  void environment.close().then(() => port.close())
})
