import { Inject } from '@nestjs/common'
import type { Catraca } from '../app/open-catraca.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { RemoteCatraca } from '../remote/index.js'
import type { Works } from './works.js'

/** The guards of an application: an instance in this process, or a server. */
export type AnyCatraca = Catraca | RemoteCatraca

// biome-ignore lint/suspicious/noExplicitAny: the request of Express or of Fastify, with what authentication adds to it.
export type NestRequest = any

/** What the decorators take from the module. */
export interface Shared {
  catraca: AnyCatraca
  /** For `@Allow` without a customer of its own. */
  customer: ((request: NestRequest) => MaybePromise<string | undefined>) | undefined
  /** What a shutdown waits for. */
  works: Works
}

/** Registered, because an application may have one copy of the package for `import` and one for `require`. */
export const CATRACA = Symbol.for('catraca.nestjs.instance')
export const SHARED = Symbol.for('catraca.nestjs.shared')

/** Injects the instance, or the connection to the server. */
export const InjectCatraca = (): ReturnType<typeof Inject> => Inject(CATRACA)
