import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { listPath } from './list-path.js'

/** The waves whose base or exclusion the list is; nothing when there are none. */
export function UsedBy({ id }: { id: string }) {
  const { allowlists } = useTexts()
  const texts = allowlists.usedBy
  const { data } = useQuery(`used by ${id}`, (signal) => api.listUses({ id }, { signal }))
  if (data === undefined || data.items.length === 0) return null
  return (
    <Panel title={texts.title} weight="quiet">
      <ul className="entry-list">
        {data.items.map(({ allowlistId, name, as }) => (
          <li key={`${allowlistId} ${as}`}>
            <Anchor component={Link} href={listPath(allowlistId)} inherit>
              {name}
            </Anchor>{' '}
            <span className="detail">{texts.as[as]}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
