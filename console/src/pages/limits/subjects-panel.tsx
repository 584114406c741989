import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { api, type ListSubjectsAnswer } from '../../api/client.js'
import type { Column } from '../../parts/data-table.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Bulk, Explorer } from '../guards/explorer.js'
import { entityPath } from './model.js'

type Subject = ListSubjectsAnswer['items'][number]

/** The server reads the limits of at most so many entities in one call. */
const MAX_ASKED = 100

/** The entities that have used limits, with what remains. */
export function SubjectsPanel() {
  const { limits: texts, guards } = useTexts()
  const { can } = useSignedIn()
  const format = useFormat()
  const columns: Column<Subject>[] = [
    {
      name: 'entity',
      header: texts.entity,
      cell: ({ entity, resource }) => (
        <Anchor component={Link} href={entityPath(entity, resource)} className="limit-name">
          {entity}
        </Anchor>
      ),
    },
    { name: 'resource', header: texts.resource, cell: ({ resource }) => resource },
    {
      name: 'left',
      header: texts.live,
      cell: ({ limits = {} }) =>
        Object.entries(limits)
          .map(
            ([name, { remaining, limit }]) =>
              `${name} ${texts.left(format.number(remaining), format.number(limit))}`,
          )
          .join(' · '),
    },
  ]
  const bulk: Bulk<Subject> = {
    label: texts.reset,
    title: texts.resetMany,
    text: texts.resetManyText,
    done: texts.resetDoneMany,
    act: ({ entity, resource }, call) => api.resetLimits({ entity, resource }, call),
  }
  return (
    <Explorer
      title={texts.inUse}
      empty={guards.explore.nothing}
      columns={columns}
      hasAges={false}
      list={({ prefix, limit, cursor }, signal) =>
        api.listSubjects({ prefix, limit: Math.min(limit, MAX_ASKED), cursor }, { signal })
      }
      rowKey={({ entity, resource }) => `${entity} ${resource}`}
      bulk={can('admin') ? bulk : undefined}
    />
  )
}
