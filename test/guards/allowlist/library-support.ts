import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Catraca, OpenOptions } from '../../../src/app/open-catraca.js'
import type { WaveConfig } from '../../../src/guards/allowlist/types.js'
import { openPatiently } from '../../support/patient.js'

export interface Library extends Catraca {
  /** What large replaces have left on disk. */
  litter(): string[]
}

/** A library over an empty store of its own, closed after the tests of this file. */
export async function openLibrary(options: OpenOptions = {}): Promise<Library> {
  const spoolDir = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  const catraca = await openPatiently({
    store: 'memory:',
    sweepIntervalMs: 0,
    ...options,
    import: { spoolDir, ...options.import },
  })
  after(async () => {
    await catraca.close()
    rmSync(spoolDir, { recursive: true, force: true })
  })
  return { ...catraca, litter: () => readdirSync(spoolDir) }
}

/** Makes lists that need no more than an id. */
export function maker({ allowlists }: Catraca) {
  return {
    fixa: async (id: string, ...members: string[]) => {
      await allowlists.create({ id, name: `List ${id}`, type: 'FIXA' })
      for (const member of members) await allowlists.add(id, member)
    },
    wave: (id: string, config: WaveConfig) =>
      allowlists.create({ id, name: `Wave ${id}`, type: 'ONDA', config }),
  }
}

export { until } from '../../support/until.js'

export const customer = (i: number): string => `customer-${String(i).padStart(7, '0')}`

/** A file of many customers, not in their order. */
export async function* customers(from: number, to: number): AsyncGenerator<Uint8Array> {
  const STEP = 2000
  for (let end = to; end > from; end -= STEP) {
    let text = ''
    for (let i = Math.max(from, end - STEP); i < end; i++) text += `${customer(i)}\n`
    yield Buffer.from(text)
  }
}
