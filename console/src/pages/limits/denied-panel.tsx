import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api, type ListDeniedAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { entityPath, resourcePath } from './model.js'

type Denied = ListDeniedAnswer['items'][number]

const POLL_MS = 5000

/** The entities denied most often, by the process that responds. */
export function DeniedPanel({ resource, shown = 10 }: { resource?: string; shown?: number }) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const query = useQuery(
    `denied ${resource}`,
    (signal) => api.listDenied({ resource, limit: shown }, { signal }),
    { pollMs: POLL_MS },
  )
  const most = query.data?.items[0]?.denied ?? 1
  const columns = useColumns(most).filter(({ name }) => resource === undefined || name !== 'resource')
  const since = query.data === undefined ? undefined : format.hourMinute(query.data.since)
  return (
    <Panel
      title={texts.denied}
      lead={since === undefined ? texts.deniedProcess : texts.deniedSince(since)}
      flush
    >
      <div className="limit-table">
        <DataTable
          label={texts.denied}
          columns={columns}
          rows={query.data?.items}
          rowKey={({ entity, resource: of, limit }) => `${of} ${entity} ${limit}`}
          query={{ ...query, asking: query.loading }}
          empty={texts.nobodyDenied}
        />
      </div>
    </Panel>
  )
}

function useColumns(most: number): Column<Denied>[] {
  const { limits: texts } = useTexts()
  const format = useFormat()
  return [
    {
      name: 'entity',
      header: texts.entity,
      cell: ({ entity, resource }) => (
        <Anchor component={Link} href={entityPath(entity, resource)} className="limit-name">
          {entity}
        </Anchor>
      ),
    },
    {
      name: 'resource',
      header: texts.resource,
      cell: ({ resource }) => (
        <Anchor component={Link} href={resourcePath(resource)} className="limit-name">
          {resource}
        </Anchor>
      ),
    },
    { name: 'limit', header: texts.limit, cell: ({ limit }) => limit },
    {
      name: 'denied',
      header: texts.deniedCalls,
      align: 'right',
      cell: ({ denied }) => (
        <span className="denied-cell">
          <span className="denied-track">
            <span style={{ width: `${(100 * denied) / most}%` }} />
          </span>
          <span className="figure">{format.number(denied)}</span>
        </span>
      ),
    },
  ]
}
