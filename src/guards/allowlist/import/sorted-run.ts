import type { MemberAttributes, SortedCustomers } from '../port.js'
import { KeySorter } from './radix-sort.js'
import type { Pause, RunBuilder } from './run.js'

const STEP_ROWS = 65_536

/** The attributes of a row, if any. */
export function readAttributes(bytes: Uint8Array, start: number, end: number): MemberAttributes | undefined {
  if (start === end) return undefined
  return JSON.parse(
    Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(),
  ) as MemberAttributes
}

/** The customers of a run in key order without duplicates. If an id is repeated, its first row counts. */
export class SortedRun implements SortedCustomers {
  private constructor(
    private readonly run: RunBuilder,
    private readonly order: Uint32Array,
    readonly count: number,
  ) {}

  /** Valid until the builder is reset. */
  static async of(run: RunBuilder, pause: Pause): Promise<SortedRun> {
    const order = acceptedRows(run)
    const sorter = new KeySorter(run.keys, run.starts, order)
    while (!sorter.step(STEP_ROWS)) await pause()
    return new SortedRun(run, order, sorter.dropRepeats())
  }

  get bytes(): Uint8Array {
    return this.run.keys
  }

  start(index: number): number {
    return this.run.starts[this.order[index]!]!
  }

  end(index: number): number {
    return this.run.starts[this.order[index]! + 1]!
  }

  attributes(index: number): MemberAttributes | undefined {
    const row = this.order[index]!
    const { attributes, attributeStarts } = this.run
    return readAttributes(attributes, attributeStarts[row]!, attributeStarts[row + 1]!)
  }

  attributeJson(index: number): Uint8Array {
    const row = this.order[index]!
    const { attributes, attributeStarts } = this.run
    return attributes.subarray(attributeStarts[row]!, attributeStarts[row + 1]!)
  }
}

function acceptedRows(run: RunBuilder): Uint32Array {
  const { starts, rows } = run
  const order = new Uint32Array(rows - run.rejected)
  let count = 0
  for (let row = 0; row < rows; row++) if (starts[row] !== starts[row + 1]) order[count++] = row
  return order
}
