import { parentPort, workerData } from 'node:worker_threads'
import { type PackedError, packError } from '../../../core/packed-error.js'
import { every } from '../../../core/timers.js'
import type { LeaseUse } from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import { Environment, type EnvironmentOptions } from '../lmdb/environment.js'
import { FREED_POLL_MS, LimitCounters, type SubjectListing } from './counters.js'
import { type PackedAnswers, type PackedTakes, packAnswers, QuestionReader } from './wire.js'

/**
 * The counter thread. Its environment is separate, so no decision waits for a list write to reach the disk. It gets
 * the takes of an event-loop turn as one array of numbers. Rare calls are sent as text, which is cheaper than copying
 * objects.
 */
export type LimitCall =
  | { verb: 'adjust'; lease: LeaseUse; adjustment: string; now: number }
  | { verb: 'giveBack'; lease: LeaseUse; now: number }
  | { verb: 'reset'; subject: Subject }
  | { verb: 'list'; request: SubjectListing }
  | { verb: 'sweep'; now: number }
export type TextToLimitThread = { id: number; call: LimitCall } | 'close'
export type TakesToLimitThread = { id: number; takes: PackedTakes }
export type TextFromLimitThread =
  | { id: number; result: unknown }
  | { id: number; error: PackedError }
  | 'freed'
export type AnswersFromLimitThread = { id: number; answers: PackedAnswers }

const port = parentPort!
const environment = Environment.open(workerData as EnvironmentOptions)
const counters = new LimitCounters(environment)
const reader = new QuestionReader()
const say = (message: TextFromLimitThread): void => port.postMessage(JSON.stringify(message))

function run(call: LimitCall): Promise<unknown> {
  switch (call.verb) {
    case 'reset':
      return counters.reset(call.subject)
    case 'list':
      return counters.list(call.request)
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

async function decide(id: number, takes: PackedTakes): Promise<void> {
  try {
    const answers = packAnswers(await counters.take(reader.read(takes)))
    port.postMessage({ id, answers } satisfies AnswersFromLimitThread)
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

port.on('message', (received: string | TakesToLimitThread) => {
  if (typeof received !== 'string') {
    void decide(received.id, received.takes)
    return
  }
  const message = JSON.parse(received) as TextToLimitThread
  if (message !== 'close') {
    void answer(message.id, message.call)
    return
  }
  clearInterval(poll)
  void environment.close().then(() => port.close())
})
