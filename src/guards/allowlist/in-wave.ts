import { CatracaError } from '../../core/errors.js'
import type { ListRecord, MemberRecord } from './port.js'
import type { CheckAnswer } from './types.js'
import { MAX_CHAIN } from './verdict.js'

const PAGE = 1000

export interface Candidates {
  record(id: string): Promise<ListRecord>
  pages(listId: string): AsyncIterable<MemberRecord[]>
  check(customerIds: readonly string[], listId: string): Promise<readonly CheckAnswer[]>
}

/**
 * The customers who pass a wave now, page by page, with how many were examined. Its base has the candidates: a wave
 * without one is a rule that anybody may fulfil.
 */
export async function* passing(
  source: Candidates,
  wave: ListRecord,
): AsyncGenerator<{ members: MemberRecord[]; examined: number }> {
  const base = await baseOf(source, wave)
  for await (const page of source.pages(base.id)) {
    for (let from = 0; from < page.length; from += PAGE) {
      const part = page.slice(from, from + PAGE)
      const answers = await source.check(
        part.map(({ customerId }) => customerId),
        wave.id,
      )
      yield { members: part.filter((_, i) => answers[i]!.overallAllowed), examined: part.length }
    }
  }
}

/** The explicit list below a wave, maybe through other waves. */
async function baseOf(source: Candidates, wave: ListRecord): Promise<ListRecord> {
  let list = wave
  for (let depth = 0; depth <= MAX_CHAIN && list.type === 'ONDA'; depth++) {
    const base = list.config?.base
    if (base === undefined) break
    list = await source.record(base)
  }
  if (list.type === 'FIXA') return list
  const message = `${wave.id} has no base list, so nobody can say who is in: its rule holds for every customer`
  throw new CatracaError('WRONG_ALLOWLIST_TYPE', message)
}
