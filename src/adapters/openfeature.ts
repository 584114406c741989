import {
  type EvaluationContext,
  FlagNotFoundError,
  GeneralError,
  InvalidContextError,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  TargetingKeyMissingError,
  TypeMismatchError,
} from '@openfeature/server-sdk'
import { isPromise } from '../core/maybe-promise.js'
import { WrongContext } from '../guards/allowlist/flags/context.js'
import { type FlagAnswer, isFlagFailure } from '../guards/allowlist/flags/flag.js'
import { FlagWatch } from '../guards/allowlist/flags/flag-watch.js'
import type { Allowlists } from '../guards/allowlist/index.js'

/** The part of an instance that the provider uses. */
export interface FlagSource {
  readonly allowlists: Pick<Allowlists, 'flags'>
  readonly ready: Promise<void>
}

/** Opens the instance of one provider, which closes it at the end. */
export type OpenSource = () => Promise<FlagSource & { close(): Promise<void> }>

/**
 * A provider of the OpenFeature SDK for servers: every list and wave is a boolean flag under its id, and the
 * `targetingKey` is the customer. A given instance stays open; what the provider opens itself, it closes.
 */
export class CatracaProvider implements Provider {
  readonly metadata = { name: 'catraca' } as const
  readonly runsOn = 'server'
  readonly events = new OpenFeatureEventEmitter()
  private source: FlagSource | undefined
  private opened: Awaited<ReturnType<OpenSource>> | undefined
  private watch: FlagWatch | undefined

  constructor(private readonly given: FlagSource | OpenSource) {
    if (typeof given !== 'function') this.source = given
  }

  /** Resolves when the most used lists are in memory. */
  async initialize(): Promise<void> {
    if (typeof this.given === 'function') this.source = this.opened ??= await this.given()
    const source = this.source!
    await source.ready
    this.watch ??= new FlagWatch(source.allowlists.flags, {
      changed: (flagsChanged) => this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged }),
      stale: () =>
        this.events.emit(ProviderEvents.Stale, {
          message: 'the store does not answer, or memory is behind it',
        }),
      fresh: () => this.events.emit(ProviderEvents.Ready),
    })
  }

  async onClose(): Promise<void> {
    const { opened, watch } = this
    watch?.close()
    this.watch = undefined
    if (opened === undefined) return
    // The SDK may initialize the provider again.
    this.opened = undefined
    this.source = undefined
    await opened.close()
  }

  async resolveBooleanEvaluation(
    key: string,
    _default: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    const { source } = this
    if (source === undefined) throw new GeneralError('the provider was not initialized')
    this.watch?.watch(key)
    const pending = evaluated(source, key, context)
    return details(isPromise(pending) ? await pending.catch(refused) : pending)
  }

  resolveStringEvaluation(key: string): Promise<ResolutionDetails<string>> {
    return notBoolean(key)
  }

  resolveNumberEvaluation(key: string): Promise<ResolutionDetails<number>> {
    return notBoolean(key)
  }

  resolveObjectEvaluation<T extends JsonValue>(key: string): Promise<ResolutionDetails<T>> {
    return notBoolean(key)
  }
}

function evaluated({ allowlists }: FlagSource, key: string, context: EvaluationContext) {
  try {
    return allowlists.flags.evaluate(key, context)
  } catch (error) {
    return refused(error)
  }
}

/** The SDK answers with the default of the caller, and with the code of these errors. */
function refused(error: unknown): never {
  if (error instanceof WrongContext) {
    const Refused =
      error.errorCode === 'TARGETING_KEY_MISSING' ? TargetingKeyMissingError : InvalidContextError
    throw new Refused(error.message, { cause: error })
  }
  throw new GeneralError(error instanceof Error ? error.message : String(error), { cause: error })
}

function details(answer: FlagAnswer): ResolutionDetails<boolean> {
  if (isFlagFailure(answer)) {
    const Failed = answer.errorCode === 'FLAG_NOT_FOUND' ? FlagNotFoundError : GeneralError
    throw new Failed(answer.errorDetails)
  }
  const { value, variant, reason, metadata: flagMetadata } = answer
  return { value, variant, reason, flagMetadata }
}

async function notBoolean(key: string): Promise<never> {
  throw new TypeMismatchError(`lists and waves are boolean flags: ${key} has no other value`)
}
