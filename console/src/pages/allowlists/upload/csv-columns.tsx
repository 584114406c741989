import { Checkbox, NativeSelect, Stack, Table, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../../texts/language.js'
import { type ColumnChoice, type CsvPreview, columnOf, headFor } from './preview.js'

export interface CsvColumnsProps {
  preview: CsvPreview
  choice: ColumnChoice
  onChoice(choice: ColumnChoice): void
}

/** The first rows of a CSV file, the use of each column, and a choice of the id column. */
export function CsvColumns({ preview, choice, onChoice }: CsvColumnsProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.columns
  const format = useFormat()
  const { rows } = preview
  const first = rows[0]!
  const count = Math.max(...rows.map((row) => row.length))
  const places = Array.from({ length: count }, (_, place) => place)
  const nameOf = (place: number): string => {
    const heading = choice.isHeader ? first[place] : undefined
    return heading === undefined || heading === '' ? texts.numbered(format.number(place + 1)) : heading
  }
  const uses = usesOf(preview, choice)
  const ignored = places.filter((place) => uses[place] === undefined).map(nameOf)
  const shown = choice.isHeader ? rows.slice(1) : rows
  const { rowsWithExtraCells: extra, isCut } = preview
  return (
    <Stack gap="sm">
      <div className="choice-pair">
        <NativeSelect
          label={texts.ids}
          description={texts.idsHint}
          inputWrapperOrder={['label', 'input', 'description']}
          value={String(choice.place)}
          data={first.map((_, place) => ({ value: String(place), label: nameOf(place) }))}
          onChange={(event) => onChoice({ ...choice, place: Number(event.currentTarget.value) })}
        />
        <Checkbox
          label={texts.header}
          description={preview.isHeader ? texts.headerKnown : texts.headerHint}
          checked={choice.isHeader}
          disabled={preview.isHeader}
          onChange={(event) => onChoice({ ...choice, isHeader: event.currentTarget.checked })}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
      <section className="table-scroll csv-preview" aria-label={texts.title} tabIndex={0}>
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {places.map((place) => (
                <Table.Th key={place}>
                  {nameOf(place)}
                  <div className="detail">{texts.uses[uses[place] ?? 'none']}</div>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file that does not change.
              <Table.Tr key={index}>
                {places.map((place) => (
                  <Table.Td key={place} className={uses[place] === undefined ? 'detail' : 'mono'}>
                    {row[place]}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {(ignored.length > 0 || extra > 0) && (
        <Text size="sm" className="notice" role="status">
          {ignored.length > 0 && texts.ignored(ignored.join(', '))}{' '}
          {extra > 0 && texts.extra(format.number(extra), isCut)}
        </Text>
      )}
    </Stack>
  )
}

type Use = 'customerId' | 'addedBy' | 'metadata' | 'expiresAt'

/** The use of each column. */
function usesOf(preview: CsvPreview, choice: ColumnChoice): Partial<Record<number, Use>> {
  const uses: Partial<Record<number, Use>> = {}
  try {
    const { columns } = headFor(preview.rows[0]!, columnOf(preview, choice))
    for (const use of ['addedBy', 'metadata', 'expiresAt', 'customerId'] as const) {
      if (columns[use] >= 0) uses[columns[use]] = use
    }
  } catch {
    // A repeated heading: the server refuses the file with a message.
  }
  return uses
}
