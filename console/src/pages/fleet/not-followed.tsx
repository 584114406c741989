import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { FleetView } from '../../api/client.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { listPath } from '../allowlists/list-path.js'

type Missing = FleetView['notFollowed'][number]

const MOST_NAMED = 5
const SHOWN = { loading: false, asking: false, problem: undefined, reload: () => {} }

/** Lists that some processes have in memory and others do not. */
export function NotFollowed({ fleet }: { fleet: FleetView }) {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  if (fleet.notFollowed.length === 0) return null
  const names = ({ processes }: Missing): string => {
    const without = fleet.processes.filter(({ id }) => processes.includes(id)).map(({ name }) => name)
    const shown = without.slice(0, MOST_NAMED).join(', ')
    const more = without.length - MOST_NAMED
    return more > 0 ? texts.andMore(shown, format.number(more)) : shown
  }
  const columns: Column<Missing>[] = [
    {
      name: 'list',
      header: texts.list,
      cell: ({ allowlistId }) => (
        <Anchor component={Link} href={listPath(allowlistId)}>
          {allowlistId}
        </Anchor>
      ),
    },
    { name: 'without', header: texts.without, cell: names },
  ]
  return (
    <Panel title={texts.notFollowed} lead={texts.notFollowedLead} flush>
      <DataTable
        label={texts.notFollowed}
        columns={columns}
        rows={fleet.notFollowed}
        rowKey={({ allowlistId }) => allowlistId}
        query={SHOWN}
      />
    </Panel>
  )
}
