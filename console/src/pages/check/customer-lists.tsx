import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import { api, type ListAllowlistsOfCustomerAnswer } from '../../api/client.js'
import { usePages } from '../../data/use-pages.js'
import { useQuery } from '../../data/use-query.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { Panel } from '../../parts/panel.js'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { Expiry } from '../allowlists/expiry.js'
import { listPath } from '../allowlists/list-path.js'

type Row = ListAllowlistsOfCustomerAnswer['items'][number]

export interface CustomerListsProps {
  customer: string
  onUse(lists: string[]): void
}

/** All explicit lists that the customer is on. */
export function CustomerLists({ customer, onUse }: CustomerListsProps) {
  const { check: texts } = useTexts()
  const pages = usePages(customer)
  const query = useQuery(
    `${customer} ${pages.size} ${pages.cursor}`,
    (signal) =>
      api.listAllowlistsOfCustomer(
        { customerId: customer, limit: pages.size, cursor: pages.cursor },
        { signal },
      ),
    { keepPrevious: true },
  )
  const rows = query.data?.items
  const columns: Column<Row>[] = [
    {
      name: 'id',
      header: texts.list,
      cell: ({ allowlistId }) => (
        <Anchor component={Link} href={listPath(allowlistId)} inherit fw={600} className="mono">
          {allowlistId}
        </Anchor>
      ),
    },
    { name: 'name', header: texts.name, cell: ({ name }) => name },
    { name: 'addedAt', header: texts.addedAt, cell: ({ addedAt }) => <Time value={addedAt} /> },
    {
      name: 'expiresAt',
      header: texts.expiresAt,
      cell: ({ expiresAt }) => <Expiry at={expiresAt} />,
    },
  ]
  return (
    <Panel
      title={texts.listsOfCustomer}
      lead={texts.listsOfCustomerLead}
      flush
      actions={
        rows !== undefined &&
        rows.length > 0 && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onUse(rows.map(({ allowlistId }) => allowlistId))}
          >
            {texts.use}
          </Button>
        )
      }
    >
      <DataTable
        label={texts.listsOfCustomer}
        stacked="labelled"
        columns={columns}
        rows={rows}
        rowKey={({ allowlistId }) => allowlistId}
        query={query}
        empty={texts.noLists}
        pages={pages}
        nextCursor={query.data?.nextCursor}
      />
    </Panel>
  )
}
