import { customer } from '../../src/conformance/support.js'
import type { Failed } from './proof.js'

/** What the race proof and its processes have agreed on. */
export interface Plan {
  directory: string
  seconds: number
  processes: number
  /** Customers that everybody adds and removes. */
  contested: number
  /** Customers of the list with imports and replaces. */
  bulkSize: number
  /** Customers of each of the sets that one list is replaced with. */
  setSize: number
  sets: number
}

export const CONTESTED_LANES = 3

/** A question to another process: does it see this write, given its token? */
export interface Look {
  id: number
  from: number
  to: number
  customerId: string
  present: boolean
  token: string
}

export type SharedImports = Record<string, { added: number; unchanged: number }>

export interface Tally {
  /** Pieces of work, by kind. */
  done: Record<string, number>
  looks: number
  /** Adds that added less removals that removed, by contested customer. */
  net: number[]
  /** Which of its own customers a process has left in. */
  own: boolean[]
  shared: SharedImports
}

export type FromProcess = { type: 'look' | 'seen'; look: Look } | { type: 'done'; tally: Tally } | Failed
export type ToProcess = { type: 'look' | 'seen'; look: Look }

export const contestedCustomer = (i: number): string => customer(i)
export const ownCustomer = (process: number, i: number): string => customer(10_000 + 100 * process + i)
export const bulkCustomer = (i: number): string => customer(1_000_000 + i)

const commonCustomer = (i: number): string => customer(2_000_000 + i)
const setCustomer = (set: number, i: number): string => customer(3_000_000 + 1_000_000 * set + i)

/** One of the sets: a quarter of it is common to all. */
export function setOf(set: number, size: number): string[] {
  const common = Math.floor(size / 4)
  return Array.from({ length: size }, (_, i) => (i < common ? commonCustomer(i) : setCustomer(set, i)))
}

/** All customers are asked for in one call, which is answered from one state of the store: at most 1000. */
const SAMPLE_OF_A_SET = 120

export function setsSample(sets: number, size: number): { id: string; set: number | 'common' }[] {
  const common = Math.floor(size / 4)
  const step = Math.max(1, Math.ceil((size - common) / SAMPLE_OF_A_SET))
  const sample: { id: string; set: number | 'common' }[] = []
  for (let i = 0; i < common; i += Math.ceil(common / 50))
    sample.push({ id: commonCustomer(i), set: 'common' })
  for (let set = 0; set < sets; set++) {
    for (let i = common; i < size; i += step) sample.push({ id: setCustomer(set, i), set })
  }
  return sample
}
