import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api } from '../../api/client.js'
import { useListNames } from '../../data/list-names.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { listPath } from '../allowlists/list-path.js'
import { entityPath } from '../limits/model.js'

const SHOWN = 7
const POLL_MS = 10_000

/** Who is denied most often, by the process that answers. */
export function Denials() {
  const { overview: texts } = useTexts()
  const format = useFormat()
  const query = useQuery('denials', (signal) => api.getDenials({ limit: SHOWN }, { signal }), {
    pollMs: POLL_MS,
  })
  const lists = (query.data?.lists ?? []).filter(({ denied }) => denied > 0)
  const names = useListNames(lists.map(({ allowlistId }) => allowlistId))
  const items = query.data?.limits ?? []
  return (
    <Panel title={texts.denials} weight="quiet">
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.data !== undefined && items.length + lists.length === 0 && (
        <p className="detail">{texts.noDenials}</p>
      )}
      <ul className="entry-list">
        {lists.map(({ allowlistId, denied, allowed }) => (
          <li key={allowlistId}>
            <strong className="figure">{format.number(denied)}</strong>{' '}
            <Anchor component={Link} href={listPath(allowlistId)} inherit>
              {names.get(allowlistId) ?? allowlistId}
            </Anchor>{' '}
            <span className="detail">{texts.allowedBeside(format.number(allowed))}</span>
          </li>
        ))}
        {items.map(({ entity, resource, limit, denied }) => (
          <li key={`${entity} ${resource} ${limit}`}>
            <strong className="figure">{format.number(denied)}</strong>{' '}
            <Anchor component={Link} href={entityPath(entity, resource)} inherit>
              {entity} · {resource}
            </Anchor>{' '}
            <span className="detail">{limit}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
