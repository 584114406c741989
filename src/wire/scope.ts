import type { Scope } from '../guards/access/scopes.js'

/** The scope that an operation needs. `open` needs no key; `any` needs any valid key. */
export type OperationScope = Scope | 'open' | 'any'
