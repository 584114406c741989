import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { FleetTiles } from '../fleet/sums.js'

const POLL_MS = 5_000

/** The sums over all processes, where the rest of the page is about one. Nothing when there is no fleet to show. */
export function FleetSums() {
  const { fleet: texts } = useTexts()
  const { data: fleet } = useQuery('fleet', (signal) => api.getFleet({}, { signal }), { pollMs: POLL_MS })
  if (!fleet?.enabled || fleet.processes.length === 0) return null
  return (
    <Panel
      title={texts.overviewTitle}
      lead={texts.overviewLead}
      actions={
        <Anchor component={Link} href="/fleet" size="sm">
          {texts.toFleet}
        </Anchor>
      }
    >
      <FleetTiles fleet={fleet} />
    </Panel>
  )
}
