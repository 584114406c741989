import { NativeSelect, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { api, type ExplainCheckAnswer, type ExplainCheckInput } from '../../api/client.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { Pager } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { ListAnswer } from './answer.js'

/** The server explains at most so many lists in one call. */
const MAX_LISTS = 200

const KINDS = ['ONDA', 'FIXA', ''] as const
const OUTCOMES = ['', 'denied', 'allowed'] as const
type Kind = (typeof KINDS)[number]
type Outcome = (typeof OUTCOMES)[number]

/** Each call looks at some hundred lists; a user waits for so many calls, for more if nothing was found yet. */
const MAX_CALLS = { some: 8, none: 40 }

/** Full pages, although the pages of the server may be short or empty. */
async function explainPage(
  input: ExplainCheckInput & { limit: number },
  signal: AbortSignal,
): Promise<ExplainCheckAnswer> {
  const results: ExplainCheckAnswer['results'] = []
  let { cursor } = input
  for (let calls = 1; ; calls++) {
    const page = await api.explainCheck({ ...input, limit: input.limit - results.length, cursor }, { signal })
    results.push(...page.results)
    cursor = page.nextCursor
    const isEnough = results.length >= input.limit || cursor === undefined
    if (isEnough || calls >= MAX_CALLS[results.length === 0 ? 'none' : 'some']) return { ...page, results }
  }
}

/** What every list and wave says of a customer, page by page. */
export function AllLists({ customer }: { customer: string }) {
  const { check: texts, allowlists } = useTexts()
  const [kind, setKind] = useState<Kind>('ONDA')
  const [outcome, setOutcome] = useState<Outcome>('')
  const pages = usePages(`${customer} ${kind} ${outcome}`, 25)
  const limit = Math.min(pages.size, MAX_LISTS)
  const query = useQuery(
    `all ${customer} ${kind} ${outcome} ${limit} ${pages.cursor}`,
    (signal) => {
      const asked = { type: kind || undefined, outcome: outcome || undefined, limit, cursor: pages.cursor }
      return explainPage({ customerId: customer, ...asked }, signal)
    },
    { keepPrevious: true },
  )
  const shown = query.data?.results
  return (
    <Panel title={texts.allLists}>
      <div className="all-lists-filter">
        <NativeSelect
          label={allowlists.type}
          value={kind}
          data={KINDS.map((value) => ({
            value,
            label: value === '' ? allowlists.anyType : allowlists.typesLong[value],
          }))}
          onChange={(event) => setKind(event.currentTarget.value as Kind)}
        />
        <NativeSelect
          label={texts.outcome}
          value={outcome}
          data={OUTCOMES.map((value) => ({ value, label: value === '' ? texts.anyOutcome : texts[value] }))}
          onChange={(event) => setOutcome(event.currentTarget.value as Outcome)}
        />
      </div>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={72} radius="md" />}
      {shown?.length === 0 && <p className="detail">{texts.noneSo}</p>}
      <ul className="verdict-lists">
        {shown?.map((result) => (
          <li key={result.allowlistId}>
            <ListAnswer result={result} />
          </li>
        ))}
      </ul>
      <Pager pages={pages} shown={shown?.length ?? 0} nextCursor={query.data?.nextCursor} total={undefined} />
    </Panel>
  )
}
