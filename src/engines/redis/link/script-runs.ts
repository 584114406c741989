import { CatracaError } from '../../../core/errors.js'
import { type BatchItem, ItemFailure } from './batch-form.js'
import type { Call, Command } from './call.js'
import type { Calls } from './calls.js'
import { Coalescer } from './coalescer.js'
import { codeOf, foreign, refused } from './failures.js'
import { foreignKey } from './foreign-keys.js'
import type { Settings } from './options.js'
import type { Argument, RunOptions } from './redis.js'
import type { Script } from './script.js'

interface Item extends BatchItem {
  deadlineMs: number
}

type Batches = Coalescer<number, Item, unknown>

const PAUSE_MS = 50
/** While slots move, a call may reach several servers that do not have its script. */
const MOST_LOADS = 8
const ONE_BY_ONE = Symbol('one by one')

/** Runs operations of scripts, and batches those of one script and slot. */
export class ScriptRuns {
  private readonly batches = new Map<Script, { text: Batches; binary: Batches }>()

  constructor(
    private readonly calls: Calls,
    private readonly settings: Settings,
  ) {}

  run(
    script: Script,
    slot: number,
    keys: readonly string[],
    args: readonly Argument[],
    { binary = false, gathered = false }: RunOptions = {},
  ): Promise<unknown> {
    if (keys.length !== script.keys) {
      const message = `${script.name} takes ${script.keys} keys, not ${keys.length}`
      return Promise.reject(new CatracaError('INTERNAL', message))
    }
    const item = { keys, args, deadlineMs: this.calls.deadline() }
    if (gathered) return this.alone(script, slot, item, binary)
    let batches = this.batches.get(script)
    if (batches === undefined) {
      batches = { text: this.newBatches(script, false), binary: this.newBatches(script, true) }
      this.batches.set(script, batches)
    }
    return batches[binary ? 'binary' : 'text'].ask(slot, item)
  }

  private async alone(script: Script, slot: number, item: Item, binary: boolean): Promise<unknown> {
    const [result] = await this.carry(script, slot, [item], binary)
    if (result instanceof Error) throw result
    return result
  }

  private newBatches(script: Script, binary: boolean): Batches {
    const { items, bytes } = this.settings.maxBatch
    return new Coalescer((slot, batch) => this.carry(script, slot, batch, binary), {
      maxItems: Math.min(items, script.together),
      maxBytes: bytes,
      sizeOf,
    })
  }

  private async carry(script: Script, slot: number, items: Item[], binary: boolean): Promise<unknown[]> {
    if (items.length === 1 && script.alone !== undefined) {
      const [{ keys, deadlineMs }] = items as [Item]
      const question = { slot, binary, write: false, repeatable: true, deadlineMs }
      const found = await this.calls.tryInOrder(script.alone(keys[0]!).map((args) => ({ ...question, args })))
      if (found !== undefined) return [found]
    }
    const question: Command = {
      slot,
      args: commandOf(script, items),
      binary,
      write: script.write,
      repeatable: script.repeatable,
      deadlineMs: items[0]!.deadlineMs,
      onRefused: (message, call) => this.refused(script, items, message, call),
    }
    const reply = await this.calls.ask(question)
    if (reply === ONE_BY_ONE) {
      const alone = items.map((item) => this.carry(script, slot, [item], binary).then(([result]) => result))
      return (await Promise.allSettled(alone)).map((one) =>
        one.status === 'fulfilled' ? one.value : one.reason,
      )
    }
    const results = script.form.resultsOf(reply, items)
    if (!results.some(isFailure)) return results
    if (results.some(isReadOnly) && performance.now() + PAUSE_MS < question.deadlineMs) {
      // A master that has just become a replica runs the script, but refuses each write in it.
      this.calls.notPrimary(slot)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      return this.carry(script, slot, items, binary)
    }
    return Promise.all(
      results.map((result, i) =>
        isFailure(result) ? this.failure(script, slot, items[i]!, result) : result,
      ),
    )
  }

  /** If another program has written to one of our keys, the error names the key. */
  private async failure(
    script: Script,
    slot: number,
    { keys }: Item,
    { message }: ItemFailure,
  ): Promise<Error> {
    if (codeOf(message) !== 'WRONGTYPE') return refused(message, script.name)
    const named = await foreignKey(keys, script.types, (key) => {
      const args = ['TYPE', key]
      return this.calls.ask({ slot, args, binary: false, write: false, deadlineMs: this.calls.deadline() })
    })
    return named ?? foreign(keys.join(' or '), 'something else than is kept there')
  }

  private refused(script: Script, items: Item[], message: string, call: Call): boolean {
    const code = codeOf(message)
    // While a slot moves, a call succeeds only on a server that has all its keys. Single items may succeed.
    if (code === 'TRYAGAIN' && items.length > 1) call.resolve(ONE_BY_ONE)
    else if (code === 'NOSCRIPT' && call.attempts++ < MOST_LOADS) this.loadAndSend(script, call)
    else return false
    return true
  }

  /** Both are sent together, because a connection executes commands in order. */
  private loadAndSend(script: Script, call: Call): void {
    const connection = call.via!
    connection.ask(['SCRIPT', 'LOAD', script.source], call.deadlineMs).catch(() => {})
    this.calls.send(call, connection)
  }
}

function commandOf(script: Script, items: readonly Item[]): Argument[] {
  const verb = script.write ? 'EVALSHA' : 'EVALSHA_RO'
  const command: Argument[] = [verb, script.sha, String(items.length * script.keys)]
  for (const { keys } of items) for (const key of keys) command.push(key)
  for (const arg of script.form.argsOf(items)) command.push(arg)
  return command
}

const isFailure = (result: unknown): result is ItemFailure => result instanceof ItemFailure
const isReadOnly = (result: unknown): boolean => isFailure(result) && result.message.startsWith('READONLY ')

function sizeOf({ keys, args }: Item): number {
  let bytes = 0
  for (const key of keys) bytes += key.length
  for (const arg of args) bytes += arg.length
  return bytes
}
