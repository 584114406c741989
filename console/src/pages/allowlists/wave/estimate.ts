import { api } from '../../../api/client.js'
import { useQuery } from '../../../data/use-query.js'
import { useTexts } from '../../../texts/language.js'
import { type Rule, shareNow } from './rule.js'
import { FORMS } from './strategies/index.js'
import type { Words } from './use-words.js'

/** Excluded lists whose sizes are loaded. */
const MAX_ASKED = 20

export interface Estimate {
  /** Approximate number; absent when it cannot be known. */
  count?: string
  how: string
  /** What the number leaves out. */
  less?: string
}

/** Approximately how many customers pass the rule: a share of the base list, if there is one with a size. */
export function useEstimate(rule: Rule, now: number, words: Words): Estimate {
  const { waves } = useTexts()
  const texts = waves.now
  const { base, exclude = [] } = rule
  const baseList = useQuery(`base ${base}`, (signal) => api.getAllowlist({ id: base! }, { signal }), {
    enabled: base !== undefined,
  }).data
  const excluded = useQuery(
    `exclude ${exclude.join(' ')}`,
    async (signal) => {
      const lists = await Promise.all(
        exclude.slice(0, MAX_ASKED).map((id) => api.getAllowlist({ id }, { signal })),
      )
      return lists.reduce((sum, { customerCount }) => sum + customerCount, 0)
    },
    { enabled: exclude.length > 0 },
  ).data
  const share = shareNow(rule, now)
  const shareText = words.share(share)
  const less = excluded === undefined ? {} : { less: texts.minusExcluded(words.number(excluded)) }
  if (share === 0) return { how: texts.nobody }
  const { named } = FORMS[rule.strategy]
  if (named !== undefined) {
    const count = words.number(named(rule))
    return { count: texts.atMost(count), how: texts.named(count), ...less }
  }
  if (base === undefined) return { how: texts.noBase(shareText), ...less }
  if (baseList === undefined) return { how: '' }
  if (baseList.type === 'ONDA') return { how: texts.waveBase(shareText, baseList.name), ...less }
  const { customerCount, name } = baseList
  return {
    count: texts.customers(words.number(Math.round(share * customerCount))),
    how: texts.ofBase(shareText, words.number(customerCount), name),
    ...less,
  }
}
