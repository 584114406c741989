import { Modal, Stack, Table } from '@mantine/core'
import { Time } from '../../parts/time.js'
import { useTexts } from '../../texts/language.js'
import { ActorName, type Entry } from './audit.js'
import { fieldsOf, useFieldWords } from './fields.js'
import { EntrySentence } from './sentence.js'

/** One change: its fields before and after. */
export function EntryDialog({ entry, onClose }: { entry: Entry | undefined; onClose(): void }) {
  const { audit: texts, common } = useTexts()
  return (
    <Modal
      opened={entry !== undefined}
      onClose={onClose}
      size="xl"
      title={entry === undefined ? '' : <EntrySentence entry={entry} />}
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {entry !== undefined && (
        <Stack gap="md">
          <Facts entry={entry} />
          {(entry.before !== undefined || entry.after !== undefined || entry.detail === undefined) && (
            <Changes label={texts.details} before={entry.before} after={entry.after} />
          )}
          {entry.detail !== undefined && <Detail detail={entry.detail} />}
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

interface ChangesProps {
  label: string
  before: unknown
  after: unknown
}

/** The differences; all fields of an object that was created or deleted. */
function Changes({ label, before, after }: ChangesProps) {
  const { audit: texts } = useTexts()
  const words = useFieldWords()
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  const different = names.filter((name) => was.get(name) !== is.get(name))
  const shown = before === undefined || after === undefined ? names : different
  if (shown.length === 0) return <p className="detail">{texts.noFields}</p>
  const cell = (name: string, value: string | undefined) =>
    value === undefined ? <span className="detail">{texts.nothing}</span> : words.value(name, value)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
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
          {shown.map((name) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" title={name}>
                {words.name(name)}
              </Table.Th>
              <Table.Td>{cell(name, was.get(name))}</Table.Td>
              <Table.Td>{cell(name, is.get(name))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function Detail({ detail }: { detail: unknown }) {
  const words = useFieldWords()
  return (
    <dl className="facts">
      {[...fieldsOf(detail)].map(([name, value]) => [
        <dt key={`${name} name`} title={name}>
          {words.name(name)}
        </dt>,
        <dd key={name}>{words.value(name, value)}</dd>,
      ])}
    </dl>
  )
}
