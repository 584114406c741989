import type { FleetView } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import type { Query } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { State, Tag } from '../../parts/state.js'
import type { Format } from '../../texts/format.js'
import { useFormat, useTexts } from '../../texts/language.js'

export type FleetProcess = FleetView['processes'][number]

/** Parts of a millisecond say nothing about a feed. */
export const lagText = (format: Format, ms: number): string =>
  format.microseconds(Math.round(ms) * 1000).replace(' ', '\u00a0')

/** A row for each process. */
export function Processes({ fleet, query }: { fleet: FleetView | undefined; query: Query<FleetView> }) {
  const { fleet: texts } = useTexts()
  const columns = useColumns(fleet)
  return (
    <Panel title={texts.table} flush>
      <DataTable
        label={texts.table}
        stacked="labelled"
        columns={columns}
        rows={fleet?.processes}
        rowKey={({ id }) => id}
        query={query}
        empty={texts.empty}
      />
    </Panel>
  )
}

function useColumns(fleet: FleetView | undefined): Column<FleetProcess>[] {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  const usual = fleet?.versions[0]?.version
  const count = (value: number) =>
    value === 0 ? format.number(value) : <State kind="warning">{format.number(value)}</State>
  const right = { align: 'right' } as const
  return [
    {
      name: 'name',
      header: texts.name,
      cell: ({ id, name, pid }) => (
        <>
          <strong>{name}</strong> <span className="detail">{pid}</span>{' '}
          {id === fleet?.self && <Tag>{texts.self}</Tag>}
        </>
      ),
    },
    {
      name: 'version',
      header: texts.version,
      cell: ({ version, engine }) => (
        <>
          {version === usual ? version : <State kind="warning">{texts.otherVersion(version)}</State>}{' '}
          <span className="detail">{engine}</span>
        </>
      ),
    },
    {
      name: 'uptime',
      header: texts.uptime,
      cell: ({ startedAt }) => format.uptime(Math.max(0, (serverNow() - Date.parse(startedAt)) / 1000) || 0),
    },
    {
      name: 'seen',
      header: texts.seen,
      cell: ({ seenMsAgo }) => texts.seenAgo(format.number(seenMsAgo / 1000, 1)),
      ...right,
    },
    {
      name: 'lists',
      header: texts.lists,
      cell: ({ lists, staleLists }) =>
        staleLists === 0 ? (
          format.number(lists)
        ) : (
          <State kind="warning">{texts.listsStale(format.number(lists), format.number(staleLists))}</State>
        ),
      ...right,
    },
    {
      name: 'lag',
      header: texts.lag,
      cell: ({ feedLagMs }) => lagText(format, feedLagMs),
      ...right,
    },
    {
      name: 'checks',
      header: texts.checks,
      cell: ({ checksPerSecond }) =>
        checksPerSecond === undefined ? texts.notCounted : texts.perSecond(format.rate(checksPerSecond)),
      ...right,
    },
    {
      name: 'errors',
      header: texts.errorsMinute,
      cell: ({ lastMinute }) => count(lastMinute.errors),
      ...right,
    },
    {
      name: 'degraded',
      header: texts.degradedMinute,
      cell: ({ lastMinute }) => count(lastMinute.degraded),
      ...right,
    },
  ]
}
