import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import { CatracaError } from '../../../core/errors.js'
import type { Item } from './attributes.js'
import { countUse } from './capacity.js'
import { NotRepeated, traceWrite, type WriteTrace } from './connection.js'
import { Deadline, type Random } from './deadline.js'
import { engineError, type SdkFailure } from './failures.js'
import type { CapacityCounter } from './options.js'

/** One call: its purpose, its operation, and the time for all its attempts. */
export interface Call {
  verb: string
  operation: string
  timeoutMs: number
}

export interface Answer {
  $metadata: { attempts?: number | undefined }
  ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined
}

export interface SendOptions {
  abortSignal: AbortSignal
}

interface Applied {
  applied: true
  /** The item that `ReturnValues` requested. */
  item?: Item
}

export interface Refused {
  applied: false
  /** The item that did not meet the condition; absent if there is none. */
  item?: Item
  /**
   * An earlier attempt of this call has an unknown outcome, so the refusing item may be its own write. Only a mark in
   * the item (a token, a change id) can tell.
   */
  maybeOwn: boolean
}

export type WriteResult = Applied | Refused

/** Every call goes through here: it is limited in time and counted, and fails only with a CatracaError. */
export class Calls {
  private isClosed = false

  constructor(
    readonly counter: CapacityCounter,
    private readonly random: Random,
  ) {}

  read<T>(call: Call, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    return this.within(call, undefined, work)
  }

  /** `repeatable`: whether another attempt may follow one with an unknown outcome. */
  write<T>(
    call: Call,
    repeatable: boolean,
    work: (deadline: Deadline, trace: WriteTrace) => Promise<T>,
  ): Promise<T> {
    const trace: WriteTrace = { repeatable, mayBeApplied: false }
    return this.within(call, trace, (deadline) => work(deadline, trace))
  }

  /** A write of one item. A refusal by its condition is a result, not an error. */
  writeItem(
    call: Call,
    input: object,
    repeatable: boolean,
    send: (options: SendOptions) => Promise<Answer & { Attributes?: Item | undefined }>,
  ): Promise<WriteResult> {
    return this.write(call, repeatable, async ({ signal }, trace) => {
      traceWrite(input, trace)
      try {
        const answer = await send({ abortSignal: signal })
        this.count(call, 'write', answer)
        return { applied: true, ...(answer.Attributes !== undefined && { item: answer.Attributes }) }
      } catch (error) {
        const { name, Item: item } = error as SdkFailure & { Item?: Item }
        if (name !== 'ConditionalCheckFailedException') throw error
        this.counter.refused(call.verb, call.operation)
        return { applied: false, maybeOwn: trace.mayBeApplied, ...(item !== undefined && { item }) }
      }
    })
  }

  count({ verb, operation }: Call, kind: 'read' | 'write', answer: Answer): void {
    countUse(this.counter, verb, operation, kind, answer.ConsumedCapacity)
    this.countAttempts(verb, operation, answer.$metadata.attempts)
  }

  close(): void {
    this.isClosed = true
  }

  private async within<T>(
    call: Call,
    trace: WriteTrace | undefined,
    work: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    if (this.isClosed) throw new CatracaError('CLOSED', 'the DynamoDB client was closed')
    const deadline = new Deadline(call.timeoutMs, this.random)
    try {
      return await work(deadline)
    } catch (error) {
      const failure = error instanceof NotRepeated ? error.failure : error
      this.countAttempts(call.verb, call.operation, (failure as SdkFailure).$metadata?.attempts)
      throw engineError(failure, call.operation, trace?.mayBeApplied === true)
    } finally {
      deadline.end()
    }
  }

  private countAttempts(verb: string, operation: string, attempts = 1): void {
    if (attempts > 1) this.counter.retried(verb, operation, attempts - 1)
  }
}
