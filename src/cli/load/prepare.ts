import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CatracaClient } from '../../client/index.js'
import { isCatracaError } from '../../core/errors.js'
import type { Target } from '../commands/support/target.js'
import { readAnswers } from './answers.js'
import { customerLines, customerNumber } from './customers.js'
import type { Mix, MixContext } from './mixes/mix.js'

const INDEX_PATIENCE_MS = 30_000
const POLL_MS = 200
const SWEEP_PATIENCE_MS = 60_000
const IMPORT_ATTEMPTS = 5
const RETRY_MS = 1000
/** An id that is on no list. */
const OUTSIDER = customerNumber(1_999_999_999)

export interface Preparation {
  target: Target
  client: CatracaClient
  mixes: readonly Mix[]
  context: MixContext
  tell(line: string): void
}

/** Creates the lists and other records that the mixes need. */
export async function prepare({ target, client, mixes, context, tell }: Preparation): Promise<void> {
  if (mixes.some(({ needsLists }) => needsLists)) {
    for (const id of context.lists) {
      tell(`making the list ${id} of ${context.members.length} customers`)
      await makeList(target, id, context.members)
    }
    if (!(await answersFromMemory(target, client, context.lists)))
      tell('the index of the list does not answer yet: checks go to the store')
  }
  for (const mix of mixes) await mix.prepare?.(target, context)
}

export async function cleanUp({ target, mixes, context, tell }: Preparation): Promise<void> {
  if (mixes.some(({ needsLists }) => needsLists)) {
    for (const id of context.lists) await deleteList(target, id)
  }
  for (const mix of mixes) await mix.cleanup?.(target, context)
  tell('removed what was prepared')
}

async function makeList(target: Target, id: string, members: readonly string[]): Promise<void> {
  await deleteList(target, id)
  const until = Date.now() + SWEEP_PATIENCE_MS
  for (;;) {
    try {
      await target.allowlists.create({ id, name: 'Load test', type: 'FIXA' })
      break
    } catch (error) {
      if (!isCatracaError(error, 'ALLOWLIST_BEING_DELETED') || Date.now() > until) throw error
      await sleep(POLL_MS)
    }
  }
  await importMembers(target, id, members)
  await target.allowlists.rebuild(id)
}

/** Resumes the import when the store is too slow to take all rows at once. */
async function importMembers(target: Target, id: string, members: readonly string[]): Promise<void> {
  const importId = randomUUID()
  for (let attempt = 1; ; attempt++) {
    try {
      await target.allowlists.import(id, customerLines(members), { format: 'text', importId })
      return
    } catch (error) {
      const isOutage = isCatracaError(error, 'ENGINE_UNAVAILABLE') || isCatracaError(error, 'UNKNOWN_OUTCOME')
      if (!isOutage || attempt === IMPORT_ATTEMPTS) throw error
      await sleep(RETRY_MS)
    }
  }
}

async function deleteList(target: Target, id: string): Promise<void> {
  await target.allowlists.delete(id).catch((error) => {
    if (!isCatracaError(error, 'ALLOWLIST_NOT_FOUND')) throw error
  })
}

/** The first check of a list starts the loading of its index. Waits until the filter has answered one check. */
async function answersFromMemory(
  target: Target,
  client: CatracaClient,
  lists: readonly string[],
): Promise<boolean> {
  const before = await readAnswers(client)
  if (before === undefined) return true
  const until = Date.now() + INDEX_PATIENCE_MS
  for (;;) {
    await target.allowlists.check(OUTSIDER, [...lists])
    const now = await readAnswers(client)
    if (now !== undefined && now.filtered >= before.filtered + lists.length) return true
    if (Date.now() > until) return false
    await sleep(POLL_MS)
  }
}
