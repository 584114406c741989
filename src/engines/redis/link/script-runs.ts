import { CatracaError } from '../../../core/errors.js'
import { type BatchItem, ItemFailure } from './batch-form.js'
import { Call, type Command } from './call.js'
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
    // Who has gathered the work of several items passes the keys of all.
    const isWhole = gathered
      ? keys.length > 0 && keys.length % script.keys === 0
      : keys.length === script.keys
    if (!isWhole) {
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
    return new Coalescer(
      (slot, batch) => {
        const settle = (results: unknown[]) => batch.settle(results)
        this.begin(script, slot, batch.items, binary, settle, (error) => batch.fail(error))
      },
      { maxItems: Math.min(items, script.together), maxBytes: bytes, sizeOf, overlaps: true },
    )
  }

  private carry(script: Script, slot: number, items: Item[], binary: boolean): Promise<unknown[]> {
    return new Promise((resolve, reject) => this.begin(script, slot, items, binary, resolve, reject))
  }

  /** With callbacks, because promises would cost more than the rest. */
  private begin(
    script: Script,
    slot: number,
    items: Item[],
    binary: boolean,
    resolve: (results: unknown[]) => void,
    reject: (error: unknown) => void,
  ): void {
    if (items.length === 1 && script.alone !== undefined) {
      const commands = script.alone(items[0]!.keys[0]!)
      this.askAlone(commands, slot, items[0]!, binary).then((found) => {
        if (found !== undefined) resolve([found])
        else this.send(script, slot, items, binary, resolve, reject)
      }, reject)
    } else this.send(script, slot, items, binary, resolve, reject)
  }

  private askAlone(
    commands: readonly (readonly string[])[],
    slot: number,
    { deadlineMs }: Item,
    binary: boolean,
  ): Promise<unknown[] | undefined> {
    const question = { slot, binary, write: false, repeatable: true, deadlineMs }
    return this.calls.tryInOrder(commands.map((args) => ({ ...question, args })))
  }

  private send(
    script: Script,
    slot: number,
    items: Item[],
    binary: boolean,
    resolve: (results: unknown[]) => void,
    reject: (error: unknown) => void,
  ): void {
    const question: Command = {
      slot,
      args: commandOf(script, items),
      binary,
      write: script.write,
      repeatable: script.repeatable,
      deadlineMs: items[0]!.deadlineMs,
      onRefused: (message, call) => this.refused(script, items, message, call),
    }
    const answered = (reply: unknown) => {
      try {
        const results = reply === ONE_BY_ONE ? undefined : script.form.resultsOf(reply, items)
        if (results !== undefined && !results.some(isFailure)) resolve(results)
        else this.withFailures(script, slot, items, binary, results).then(resolve, reject)
      } catch (error) {
        reject(error)
      }
    }
    this.calls.start(new Call(this.calls, question, answered, reject))
  }

  /** `results`: undefined if each item must be run alone. */
  private async withFailures(
    script: Script,
    slot: number,
    items: Item[],
    binary: boolean,
    results: unknown[] | undefined,
  ): Promise<unknown[]> {
    if (results === undefined) {
      const alone = items.map((item) => this.carry(script, slot, [item], binary).then(([result]) => result))
      return (await Promise.allSettled(alone)).map((one) =>
        one.status === 'fulfilled' ? one.value : one.reason,
      )
    }
    if (results.some(isReadOnly) && performance.now() + PAUSE_MS < items[0]!.deadlineMs) {
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
    else if (code === 'NOSCRIPT' && call.loads++ < MOST_LOADS) this.loadAndSend(script, call)
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
  const keyCount = items.length === 1 ? items[0]!.keys.length : items.length * script.keys
  const command: Argument[] = [verb, script.sha, String(keyCount)]
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
