import { Modal, Stack, Table } from '@mantine/core'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { ActionName, ActorName, type Entry } from './audit.js'

/** One change: the fields as they were and as they are. */
export function EntryDialog({ entry, onClose }: { entry: Entry | undefined; onClose(): void }) {
  const { audit: texts, common } = useTexts()
  return (
    <Modal
      opened={entry !== undefined}
      onClose={onClose}
      size="xl"
      title={entry === undefined ? '' : <ActionName entry={entry} />}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {entry !== undefined && (
        <Stack gap="md">
          <Facts entry={entry} />
          <Changes label={texts.details} before={entry.before} after={entry.after} />
          {entry.detail !== undefined && <pre className="json">{JSON.stringify(entry.detail, null, 2)}</pre>}
        </Stack>
      )}
    </Modal>
  )
}

function Facts({ entry: { id, at, actor, target, requestId } }: { entry: Entry }) {
  const { audit: texts, common } = useTexts()
  const further: [string, string | undefined][] = [
    [texts.customer, target.customerId],
    [texts.entity, target.entity],
    [texts.level, target.level],
    [texts.operation, target.operation],
    [common.requestId, requestId],
    [texts.entry, id],
  ]
  return (
    <dl className="facts">
      <dt>{texts.at}</dt>
      <dd>
        <Time value={at} />
      </dd>
      <dt>{texts.actor}</dt>
      <dd>
        <ActorName actor={actor} />
      </dd>
      <dt>{texts.target}</dt>
      <dd className="mono">
        {target.kind} {target.id}
      </dd>
      {further
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd key={name} className="mono">
            {value}
          </dd>,
        ])}
    </dl>
  )
}

function Changes({ label, before, after }: { label: string; before: unknown; after: unknown }) {
  const { audit: texts } = useTexts()
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  if (names.length === 0) return <p className="detail">{texts.noFields}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="table-scroll" aria-label={label} tabIndex={0}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.field}</Table.Th>
            <Table.Th>{texts.before}</Table.Th>
            <Table.Th>{texts.after}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {names.map((name) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td className="mono">{shown(was[name]) ?? texts.nothing}</Table.Td>
              <Table.Td className="mono">{shown(is[name]) ?? texts.nothing}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { value }
}

function shown(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
}
