import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ImportStatus } from '../../../api/client.js'
import { Icon } from '../../../parts/icons.js'
import { State } from '../../../parts/state.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { faultWords } from '../../../texts/server-words.js'
import { download } from '../download.js'
import { Fact } from '../facts.js'
import { csvOf } from './csv.js'

export function UploadResult({ id, status }: { id: string; status: ImportStatus }) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  const isDone = status.state === 'completed'
  const { rowsWithExtraCells: extra } = status
  const isPerfect = status.rejected === 0 && extra === undefined
  return (
    <Stack gap="md">
      <div className="tags">
        <State kind={isDone ? (isPerfect ? 'good' : 'warning') : 'bad'}>
          {isDone ? texts.done : texts.failed}
        </State>
      </div>
      {status.state === 'interrupted' && <Text size="sm">{texts.interrupted}</Text>}
      {status.error !== undefined && <Text size="sm">{faultWords(status.error)}</Text>}
      <dl className="list-facts list-facts-plain">
        <Fact name={texts.added}>{format.number(status.added)}</Fact>
        <Fact name={texts.unchanged}>{format.number(status.unchanged)}</Fact>
        {status.mode === 'replace' && <Fact name={texts.removed}>{format.number(status.removed)}</Fact>}
        <Fact name={texts.rejected}>{format.number(status.rejected)}</Fact>
      </dl>
      {extra !== undefined && <div className="notice">{texts.extra(format.number(extra))}</div>}
      {status.firstErrors.length > 0 && <Rejected id={id} status={status} />}
    </Stack>
  )
}

function Rejected({ id, status: { firstErrors, rejected } }: { id: string; status: ImportStatus }) {
  const { allowlists } = useTexts()
  const texts = allowlists.rejected
  const format = useFormat()
  const save = (): void => {
    const rows = firstErrors.map(({ line, row, message }) => [line, row ?? '', faultWords(message)])
    const content = csvOf([['line', 'row', 'reason'], ...rows])
    download(new Blob([content], { type: 'text/csv;charset=utf-8' }), `${id}-rejected.csv`)
  }
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Title order={3} size="h6">
          {texts.title}
        </Title>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={save}
        >
          {texts.download}
        </Button>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
      <section className="table-scroll rejected" aria-label={texts.title} tabIndex={0}>
        <Table verticalSpacing={5}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">{texts.line}</Table.Th>
              <Table.Th>{texts.row}</Table.Th>
              <Table.Th>{texts.reason}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {firstErrors.map(({ line, row, message }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: one line can be wrong in two ways.
              <Table.Tr key={`${line} ${index}`}>
                <Table.Td ta="right" className="figure">
                  {format.number(line)}
                </Table.Td>
                <Table.Td>
                  <span className="mono">{row}</span>
                </Table.Td>
                <Table.Td>{faultWords(message)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {rejected > firstErrors.length && (
        <Text size="sm" c="dimmed" mt={6}>
          {texts.more(format.number(firstErrors.length), format.number(rejected))}
        </Text>
      )}
    </div>
  )
}
