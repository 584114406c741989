import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { findKey, type Principal } from '../../access/keys.js'
import type { KeyRecord } from '../../access/port.js'
import { effectiveScopes, type Scope } from '../../access/scopes.js'
import { CatracaError } from '../../errors.js'
import { isForeign, isLoopbackHost, isLoopbackPeer } from './loopback.js'
import type { KeyRegistry } from './registry.js'

/** The key that was last found good on a connection, so that its next requests need no hashing. */
interface Verified {
  header: string
  epoch: number
  principal: Principal
}

const VERIFIED = Symbol('verified key')
type KnownSocket = Socket & { [VERIFIED]?: Verified }

/** Who sent this request: requests of others may come over its connection before it is answered. */
const CALLER = Symbol('caller')
type KnownRequest = IncomingMessage & { [CALLER]?: Principal }

const BEARER = /^Bearer +(\S{1,512})$/i

/** Decides who may pass: by API key, or on a server without keys by coming from this machine. */
export class Gate {
  constructor(private readonly registry: KeyRegistry) {}

  /** Why the request may not have this scope; undefined when it may. Never waits: the hot path calls it. */
  refusal(request: IncomingMessage, scope: Scope | 'any'): CatracaError | undefined {
    if (this.registry.isStale()) return this.staleRefusal(request, scope)
    if (!this.registry.keyed) return this.keylessRefusal(request)
    const header = request.headers.authorization
    if (header === undefined) return new CatracaError('UNAUTHENTICATED', 'this call needs an API key')
    const principal = this.identify(request.socket, header)
    return principal === undefined ? unknownKey() : admit(request, principal, scope)
  }

  /** While the store does not answer, only keys of the configuration are known to be good: metrics are read by them. */
  private staleRefusal(request: IncomingMessage, scope: Scope | 'any'): CatracaError | undefined {
    const { configured } = this.registry
    const principal = this.find(request.socket, request.headers.authorization ?? '', configured)
    return principal === undefined ? keysUnavailable() : admit(request, principal, scope)
  }

  /** Whether keys are needed and known: then a key and its scopes are all that counts. */
  isLocked(): boolean {
    return this.registry.keyed && !this.registry.isStale()
  }

  /** What holds for every page of a server without keys, also those that need no scope. */
  openRefusal(request: IncomingMessage): CatracaError | undefined {
    return this.registry.keyed ? undefined : localOnlyRefusal(request)
  }

  /** The caller whose key came with this request; also where it lacked the scope. */
  principal(request: IncomingMessage): Principal | undefined {
    return (request as KnownRequest)[CALLER]
  }

  private keylessRefusal(request: IncomingMessage): CatracaError | undefined {
    const refusal = localOnlyRefusal(request)
    if (refusal !== undefined) return refusal
    // Somebody who sends a key relies on it being checked.
    return request.headers.authorization === undefined ? undefined : unknownKey()
  }

  /** Who sends this `Authorization` over this connection; undefined for a stranger. */
  identify(socket: KnownSocket, header: string): Principal | undefined {
    const { epoch, records } = this.registry
    const known = socket[VERIFIED]
    if (known !== undefined && known.epoch === epoch && sameText(known.header, header)) {
      return known.principal
    }
    return this.find(socket, header, records)
  }

  private find(socket: KnownSocket, header: string, records: readonly KeyRecord[]): Principal | undefined {
    const key = BEARER.exec(header)?.[1]
    const record = key === undefined ? undefined : findKey(key, records)
    if (record === undefined) return undefined
    const principal = { name: record.name, scopes: effectiveScopes(record.scopes) }
    socket[VERIFIED] = { header, epoch: this.registry.epoch, principal }
    return principal
  }
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
  const { headers, method } = request
  const local = isLoopbackHost(headers.host) && isLoopbackPeer(request.socket.remoteAddress)
  const secFetchSite = headers['sec-fetch-site'] as string | undefined
  const secFetchMode = headers['sec-fetch-mode'] as string | undefined
  if (local && !isForeign({ method, origin: headers.origin, secFetchSite, secFetchMode })) return undefined
  return new CatracaError(
    'FORBIDDEN_ORIGIN',
    'this server has no API keys and answers only programs on its own machine; make one with `catraca key create`',
  )
}

/** In constant time: a neighbour on the same connection (behind a proxy) must not learn a key letter by letter. */
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
