import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'

/** What to do next on a server that holds nothing yet; nothing once there are lists or limits. */
export function FirstRun() {
  const { overview: texts } = useTexts()
  const words = texts.first
  const { keysRequired } = useSignedIn()
  const { data } = useQuery('first run', async (signal) => {
    const [lists, resources, system] = await Promise.all([
      api.listAllowlists({ limit: 1 }, { signal }),
      api.listResourceConfigs({ limit: 1 }, { signal }),
      api.listSystemConfigs({ limit: 1 }, { signal }),
    ])
    return { lists: lists.items.length > 0, limits: resources.items.length + system.items.length > 0 }
  })
  if (data === undefined || data.lists || data.limits) return null
  const steps = [
    { href: '/allowlists#new', isDone: false, ...words.list },
    { href: '/limits/new', isDone: false, ...words.limit },
    { href: '/settings', isDone: keysRequired, ...words.key },
  ]
  return (
    <Panel title={words.title} lead={words.lead} weight="main">
      <ol className="first-run">
        {steps.map(({ href, isDone, action, why }) => (
          <li key={href}>
            <Anchor component={Link} href={href} fw={600}>
              {action}
            </Anchor>{' '}
            {isDone && <State kind="good">{words.done}</State>}
            <div className="detail">{why}</div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
