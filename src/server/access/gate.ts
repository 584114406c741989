import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { CatracaError, invalid } from '../../core/errors.js'
import { hashKey, type Principal } from '../../guards/access/index.js'
import type { Scope } from '../../guards/access/scopes.js'
import { isForeign, isLoopbackHost, isLoopbackPeer } from './loopback.js'
import type { KeyRegistry, KnownKey } from './registry.js'

/** The last valid key of a connection, so that its next requests need no hashing. */
interface Verified {
  header: string
  epoch: number
  key: KnownKey
}

const VERIFIED = Symbol('verified key')
type KnownSocket = Socket & { [VERIFIED]?: Verified }

/** The caller of this request. Other callers may send requests on the same connection before it is answered. */
const CALLER = Symbol('caller')
type KnownRequest = IncomingMessage & { [CALLER]?: Principal }

const LOCKED_WITHOUT_KEYS =
  'the last API key was revoked: make one with `catraca key create --store URL`, or serve this machine without keys: `catraca key unlock --store URL`'

const BEARER = /^Bearer +(\S{1,512})$/i

/** Decides who may call: by API key, or, on a server without keys, only clients on this machine. */
export class Gate {
  constructor(private readonly registry: KeyRegistry) {}

  /**
   * Why the request may not use this scope; undefined when it may. Synchronous, because the hot path calls it.
   * `isOperating`: the call is for operators who watch an outage, see `KeyRegistry.trusts`.
   */
  refusal(request: IncomingMessage, scope: Scope | 'any', isOperating = false): CatracaError | undefined {
    const { registry } = this
    // Until the first read of the store it is not known whether it has keys.
    if (!registry.keyed) return registry.wasRead ? this.keylessRefusal(request) : keysUnavailable()
    const header = request.headers.authorization
    if (header === undefined) return new CatracaError('UNAUTHENTICATED', this.missingKey())
    if (isRepeated(request)) return invalid('Authorization', 'must come once')
    const key = this.identify(request.socket, header)
    if (key === undefined) return registry.isStale() ? keysUnavailable() : unknownKey()
    return registry.trusts(key, isOperating) ? admit(request, key, scope) : keysUnavailable()
  }

  private missingKey(): string {
    return this.registry.hasKeys ? 'this call needs an API key' : LOCKED_WITHOUT_KEYS
  }

  /** Whether the server has keys and knows them: then only the key and its scopes decide. */
  isLocked(): boolean {
    return this.registry.keyed && !this.registry.isStale()
  }

  /** The rules of a server without keys, which also apply to routes without a scope. */
  openRefusal(request: IncomingMessage): CatracaError | undefined {
    return this.registry.keyed ? undefined : localOnlyRefusal(request)
  }

  /** The caller whose key came with this request, even if the key lacked the scope. */
  principal(request: IncomingMessage): Principal | undefined {
    return (request as KnownRequest)[CALLER]
  }

  private keylessRefusal(request: IncomingMessage): CatracaError | undefined {
    const refusal = localOnlyRefusal(request)
    if (refusal !== undefined) return refusal
    // A caller that sends a key expects that it is checked.
    return request.headers.authorization === undefined ? undefined : unknownKey()
  }

  /** The key of this `Authorization` header on this connection; undefined when it is unknown. */
  identify(socket: KnownSocket, header: string): KnownKey | undefined {
    const { epoch } = this.registry
    const verified = socket[VERIFIED]
    if (verified !== undefined && verified.epoch === epoch && sameText(verified.header, header)) {
      return verified.key
    }
    const text = BEARER.exec(header)?.[1]
    const key = text === undefined ? undefined : this.registry.find(hashKey(text))
    if (key !== undefined) socket[VERIFIED] = { header, epoch, key }
    return key
  }
}

const AUTHORIZATION = 'authorization'

/** Node takes the first and drops the others. A proxy in front may have looked at another one. */
function isRepeated({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count++
  }
  return count > 1
}

/** Remembers who it is, whom the log and the audit trail name; and why they may not, where they lack the scope. */
function admit(
  request: IncomingMessage,
  principal: Principal,
  scope: Scope | 'any',
): CatracaError | undefined {
  ;(request as KnownRequest)[CALLER] = principal
  if (scope === 'any' || principal.scopes.has(scope)) return undefined
  return new CatracaError('FORBIDDEN', `the API key ${principal.name} lacks the scope ${scope}`)
}

function localOnlyRefusal(request: IncomingMessage): CatracaError | undefined {
  const local = isLoopbackHost(request.headers.host) && isLoopbackPeer(request.socket.remoteAddress)
  if (local && !isForeign(request)) return undefined
  return new CatracaError(
    'FORBIDDEN_ORIGIN',
    'this server has no API keys and answers only programs on its own machine; make one with `catraca key create`',
  )
}

/**
 * In constant time: behind a proxy, another client on the same connection must not learn a key character by
 * character.
 */
export function sameText(known: string, given: string): boolean {
  if (known.length !== given.length) return false
  let difference = 0
  for (let i = 0; i < known.length; i++) difference |= known.charCodeAt(i) ^ given.charCodeAt(i)
  return difference === 0
}

function unknownKey(): CatracaError {
  return new CatracaError('UNAUTHENTICATED', 'the API key is unknown or revoked')
}

function keysUnavailable(): CatracaError {
  return new CatracaError('ENGINE_UNAVAILABLE', 'the API keys cannot be read from the store')
}
