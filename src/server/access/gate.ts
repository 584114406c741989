import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { CatracaError, invalid } from '../../core/errors.js'
import { type Reach, reachUnder } from '../../guards/access/grants.js'
import { hashKey, type Principal } from '../../guards/access/index.js'
import type { Scope } from '../../guards/access/scopes.js'
import type { OperationScope } from '../../wire/scope.js'
import { isForeign, isLoopbackHost, isLoopbackPeer } from './loopback.js'
import type { KeyRegistry, KnownKey } from './registry.js'
import { isRepeated } from './repeated-header.js'

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
type KnownRequest = { [CALLER]?: Principal }

/** The person whose session came with the request, or why the session is not valid. */
const PERSON = Symbol('person')
type VisitedRequest = IncomingMessage & { [PERSON]?: Principal | CatracaError }

const LOCKED_WITHOUT_KEYS =
  'the last API key was revoked: make one with `catraca key create --store URL`, or serve this machine without keys: `catraca key unlock --store URL`'

const BEARER = /^Bearer +(\S{1,512})$/i

/** What decides over a call of gRPC: its metadata stand for headers. */
export interface CallFacts {
  readonly authorization: readonly (string | Buffer)[]
  readonly host: string
  readonly peer: string
  readonly isOfPage: boolean
}

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
    if (header === undefined) {
      const person = (request as VisitedRequest)[PERSON]
      if (person === undefined) return new CatracaError('UNAUTHENTICATED', this.missingKey())
      return person instanceof CatracaError ? person : admit(request, person, scope)
    }
    if (isRepeated(request, 'authorization')) return invalid('Authorization', 'must come once')
    const key = this.identify(request.socket, header)
    if (key === undefined) return registry.isStale() ? keysUnavailable() : unknownKey()
    key.isUsed = true
    return registry.trusts(key, isOperating) ? admit(request, key, scope) : keysUnavailable()
  }

  /** Remembers who sent the request, as the session that came with it says. */
  visited(request: IncomingMessage, person: Principal | CatracaError): void {
    ;(request as VisitedRequest)[PERSON] = person
  }

  /** The lists and resources that the caller may use under the scope; undefined: all. */
  reach(request: IncomingMessage, scope: Scope): Reach | undefined {
    return reachUnder(this.principal(request)?.grants, scope)
  }

  /** The same for a call of gRPC. */
  callRefusal(call: CallFacts, scope: OperationScope): CatracaError | undefined {
    const { registry } = this
    const { authorization } = call
    if (!registry.keyed) return registry.wasRead ? keylessCallRefusal(call) : keysUnavailable()
    if (scope === 'open') return undefined
    if (authorization.length === 0) return new CatracaError('UNAUTHENTICATED', this.missingKey())
    if (authorization.length > 1) return invalid('authorization', 'must come once')
    const key = this.read(String(authorization[0]))
    if (key === undefined) return registry.isStale() ? keysUnavailable() : unknownKey()
    key.isUsed = true
    return registry.trusts(key, false) ? admit(call, key, scope) : keysUnavailable()
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
  principal(request: IncomingMessage | CallFacts): Principal | undefined {
    return (request as KnownRequest)[CALLER]
  }

  private keylessRefusal(request: IncomingMessage): CatracaError | undefined {
    const refusal = localOnlyRefusal(request)
    if (refusal !== undefined) return refusal
    // A caller that sends a key expects that it is checked.
    return request.headers.authorization === undefined ? undefined : unknownKey()
  }

  /** Whose valid key came over this connection; undefined for strangers. */
  callerAt(socket: KnownSocket): string | undefined {
    return socket[VERIFIED]?.key.id
  }

  /** Who sends this request, as far as it can be told at once; undefined for strangers, and for people until they are known. */
  callerOf(request: IncomingMessage): string | undefined {
    const known = this.principal(request)
    if (known !== undefined) return known.id
    const { authorization } = request.headers
    return authorization && this.identify(request.socket, authorization)?.id
  }

  /** The key of this `Authorization` header on this connection; undefined when it is unknown. */
  identify(socket: KnownSocket, header: string): KnownKey | undefined {
    const { epoch } = this.registry
    const verified = socket[VERIFIED]
    if (verified !== undefined && verified.epoch === epoch && sameText(verified.header, header)) {
      return verified.key
    }
    const key = this.read(header)
    if (key !== undefined) socket[VERIFIED] = { header, epoch, key }
    return key
  }

  private read(header: string): KnownKey | undefined {
    const text = BEARER.exec(header)?.[1]
    return text === undefined ? undefined : this.registry.find(hashKey(text))
  }
}

/** Remembers who it is, whom the log and the audit trail name; and why they may not, where they lack the scope. */
function admit(
  request: IncomingMessage | CallFacts,
  principal: Principal,
  scope: Scope | 'any',
): CatracaError | undefined {
  ;(request as KnownRequest)[CALLER] = principal
  if (scope === 'any' || principal.scopes.has(scope)) return undefined
  const who = principal.person === undefined ? `the API key ${principal.name} lacks` : 'your roles lack'
  return new CatracaError('FORBIDDEN', `${who} the scope ${scope}`)
}

function localOnlyRefusal(request: IncomingMessage): CatracaError | undefined {
  const local = isLoopbackHost(request.headers.host) && isLoopbackPeer(request.socket.remoteAddress)
  return local && !isForeign(request) ? undefined : foreignCaller()
}

function keylessCallRefusal({ authorization, host, peer, isOfPage }: CallFacts): CatracaError | undefined {
  if (!isLoopbackHost(host) || !isLoopbackPeer(peer) || isOfPage) return foreignCaller()
  return authorization.length === 0 ? undefined : unknownKey()
}

function foreignCaller(): CatracaError {
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
  return new CatracaError('UNAUTHENTICATED', 'the API key is unknown, revoked or expired')
}

function keysUnavailable(): CatracaError {
  return new CatracaError('ENGINE_UNAVAILABLE', 'the API keys cannot be read from the store')
}
