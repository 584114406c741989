import { customer, customers } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import { REMOVED_EACH, type Said } from './kill-process.js'
import { agreedMembers, demand, lines } from './proof.js'
import { fixa, type Stage, startVictim } from './victim.js'

/** Killed while it adds: what it was told to be there is there, and the count is right. */
export async function killAdding(stage: Stage, round: number): Promise<void> {
  const listId = `adds-${round}`
  await fixa(stage, listId)
  const killAfterMs = 20 + Math.random() * 300
  const { said } = await startVictim(stage.directory, { work: 'add', listId, first: 0 }, killAfterMs)
  stage.kills++
  const added = numbers(said, 'added')
  const removed = numbers(said, 'removed')
  // Each of its lanes may have done one more than it could say.
  const universe = customers(0, Math.max(0, ...added) + 100)
  const members = await agreedMembers(stage.catraca, listId, universe)
  for (const i of added) {
    if (i % REMOVED_EACH > 0)
      demand(members.has(customer(i)), `an acknowledged add of ${customer(i)} is lost`)
  }
  for (const i of removed)
    demand(!members.has(customer(i)), `an acknowledged removal of ${customer(i)} is lost`)
}

const numbers = (said: Said[], type: 'added' | 'removed'): number[] =>
  said.flatMap((message) => (message.type === type ? [(message as { customer: number }).customer] : []))

/** Killed while it deletes and sweeps: the list is whole or gone, and its members never come back. */
export async function killDeleting(stage: Stage, size: number): Promise<void> {
  const { allowlists } = stage.catraca
  const listId = 'deleted'
  await fixa(stage, listId)
  const ids = customers(0, size)
  await allowlists.import(listId, lines(ids), { format: 'text' })
  const order = { work: 'delete', listId } as const
  const { killed } = await startVictim(stage.directory, order, Math.random() * (30 + size / 50))
  if (killed) stage.kills++
  if (await exists(stage, listId)) {
    demand((await agreedMembers(stage.catraca, listId, ids)).size === size, `${listId}: half deleted`)
    await allowlists.delete(listId)
  }
  const asked = ids.filter((_, i) => i % 97 === 0)
  for (const id of asked) {
    const { results } = await allowlists.check(id, [listId], { consistency: 'strong' })
    demand(
      results[0]!.reason === 'ALLOWLIST_NOT_FOUND',
      `${listId}: ${id} is ${results[0]!.reason} after the delete`,
    )
    const { items } = await allowlists.listsOf(id)
    demand(!items.some(({ allowlistId }) => allowlistId === listId), `${id} is still listed in ${listId}`)
  }
  await stage.catraca.upkeep()
  await fixa(stage, listId)
  demand((await agreedMembers(stage.catraca, listId, ids)).size === 0, `${listId}: members came back`)
  await allowlists.delete(listId)
  await stage.catraca.upkeep()
}

async function exists({ catraca }: Stage, listId: string): Promise<boolean> {
  try {
    await catraca.allowlists.get(listId)
    return true
  } catch (error) {
    if (isCatracaError(error, 'ALLOWLIST_NOT_FOUND')) return false
    throw error
  }
}
