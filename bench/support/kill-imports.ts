import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { customer } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { ImportResult, ImportStatus } from '../../src/guards/allowlist/types.js'
import { LEASE_MS, type Said } from './kill-process.js'
import { agreedMembers, demand, lines, sameSet } from './proof.js'
import { fixa, type Stage, startVictim } from './victim.js'

interface ImportFile {
  path: string
  rows: number
  ids: string[]
}

/** With attributes, repeated rows and rows that cannot be read. */
export function writeImport(stage: Stage, rows: number): ImportFile {
  const ids = Array.from({ length: rows }, (_, i) => (i % 50 === 49 ? customer(i - 20) : customer(i)))
  const text = ids.map((id, i) => (i % 997 === 996 ? 'not an id' : `${id},${i % 10 === 0 ? 'crm' : ''}`))
  const path = join(stage.files, 'import.csv')
  writeFileSync(path, `customerId,addedBy\n${text.join('\n')}\n`)
  return { path, rows, ids }
}

/** Some of the rows are in the list already. */
async function prepareImport(stage: Stage, listId: string, file: ImportFile): Promise<number> {
  await fixa(stage, listId)
  const there = file.ids.filter((_, i) => i % 4 === 0)
  const { customerCount } = await stage.catraca.allowlists.import(listId, lines(there), { format: 'text' })
  return customerCount
}

export interface Reference {
  counts: Counts
  members: Set<string>
  elapsedMs: number
}

type Counts = Pick<ImportResult, 'added' | 'unchanged' | 'removed' | 'rejected' | 'customerCount'>

const countsOf = ({ added, unchanged, removed, rejected, customerCount }: Counts): Counts => ({
  added,
  unchanged,
  removed,
  rejected,
  customerCount,
})

/** The same import without interruption. */
export async function importUndisturbed(stage: Stage, file: ImportFile): Promise<Reference> {
  const listId = 'undisturbed'
  await prepareImport(stage, listId, file)
  const order = { work: 'import', listId, file: file.path, importId: 'i', mode: 'add' } as const
  const { said, elapsedMs } = await startVictim(stage.directory, order, undefined)
  const members = await agreedMembers(stage.catraca, listId, [...new Set(file.ids)])
  return { counts: countsOf(resultOf(said)!), members, elapsedMs }
}

function resultOf(said: Said[]): ImportResult | undefined {
  for (const message of said) if (message.type === 'imported') return message.result
  return undefined
}

/** Killed while it imports, and resumed until it comes to its end: as if nothing had happened. */
export async function killImporting(
  stage: Stage,
  round: number,
  file: ImportFile,
  { counts, members, elapsedMs }: Reference,
  maxKills: number,
): Promise<void> {
  const listId = `imports-${round}`
  const before = await prepareImport(stage, listId, file)
  const order = { work: 'import', listId, file: file.path, importId: 'i', mode: 'add' } as const
  let acknowledged = 0
  let result: ImportResult | undefined
  for (let attempt = 0; result === undefined; attempt++) {
    const killAfterMs = attempt < maxKills ? Math.random() * (elapsedMs + LEASE_MS) : undefined
    const { said, killed } = await startVictim(stage.directory, order, killAfterMs)
    if (killed) stage.kills++
    result = resultOf(said)
    const status = await statusOf(stage, listId)
    const { customerCount } = await stage.catraca.allowlists.get(listId)
    demand(
      customerCount === before + (status?.added ?? 0),
      `${listId}: count and progress differ after a kill`,
    )
    demand((status?.rowsAcknowledged ?? 0) >= acknowledged, `${listId}: less is acknowledged than before`)
    acknowledged = status?.rowsAcknowledged ?? 0
  }
  const told = JSON.stringify(countsOf(result))
  demand(told === JSON.stringify(counts), `${listId}: counted ${told}, undisturbed ${JSON.stringify(counts)}`)
  const now = await agreedMembers(stage.catraca, listId, [...new Set(file.ids)])
  demand(sameSet(now, members), `${listId}: other members than after an undisturbed import`)
}

export async function statusOf(
  { catraca }: Stage,
  listId: string,
  importId = 'i',
): Promise<ImportStatus | undefined> {
  try {
    return await catraca.allowlists.importStatus(listId, importId)
  } catch (error) {
    if (isCatracaError(error, 'IMPORT_NOT_FOUND')) return undefined
    throw error
  }
}

const EXIT_LIMIT_MS = 20_000

/** Exits in the middle of an import: it must come to its end, or it would hold the store against everybody. */
export async function exitImporting(
  stage: Stage,
  round: number,
  file: ImportFile,
  { members, elapsedMs }: Reference,
): Promise<void> {
  const listId = `exits-${round}`
  await prepareImport(stage, listId, file)
  const order = { work: 'import', listId, file: file.path, importId: 'i', mode: 'add' } as const
  const exitAfterMs = Math.random() * elapsedMs
  await startVictim(stage.directory, { ...order, exitAfterMs }, undefined, undefined, EXIT_LIMIT_MS)
  await startVictim(stage.directory, order, undefined)
  const now = await agreedMembers(stage.catraca, listId, [...new Set(file.ids)])
  demand(sameSet(now, members), `${listId}: other members than after an undisturbed import`)
}
