import { Table } from '@mantine/core'
import { useTexts } from '../../../texts/language.js'
import { type Rule, shareNow } from './rule.js'
import type { Row } from './strategies/form.js'
import { FORMS } from './strategies/index.js'
import { LARGEST_STRIDE } from './strategies/ramp.js'
import type { Words } from './use-words.js'

export interface DifferenceProps {
  before: Rule
  after: Rule
  now: number
  words: Words
}

/** Two rules side by side: only the differences, and their immediate effect. */
export function Difference({ before, after, now, words }: DifferenceProps) {
  const { waves } = useTexts()
  const texts = waves.difference
  const rows = useRows(before, after, words)
  const [was, becomes] = [shareNow(before, now), shareNow(after, now)]
  const isFewer = becomes < was
  const isJump = FORMS[after.strategy].named === undefined && becomes - was > LARGEST_STRIDE
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
      <section className="table-scroll difference" aria-label={texts.lead} tabIndex={0}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.field}</Table.Th>
              <Table.Th>{texts.before}</Table.Th>
              <Table.Th>{texts.after}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.name}>
                <Table.Th scope="row">{row.name}</Table.Th>
                <Table.Td className="difference-before">
                  <Lines lines={row.before} />
                </Table.Td>
                <Table.Td className="difference-after">
                  <Lines lines={row.after} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      <p className={isFewer || isJump ? 'notice' : 'detail'}>
        {was === becomes
          ? texts.same(words.share(was))
          : texts.atOnce(words.share(was), words.share(becomes))}
        {isFewer && ` ${texts.fewer}`}
        {isJump && ` ${waves.warnings.jump}`}
      </p>
    </div>
  )
}

function Lines({ lines }: { lines: readonly string[] }) {
  const { waves } = useTexts()
  if (lines.length === 0) return <span className="detail">{waves.difference.none}</span>
  return lines.map((line) => <div key={line}>{line}</div>)
}

function useRows(before: Rule, after: Rule, words: Words): Row[] {
  const { waves: texts } = useTexts()
  const { fields, rule: names } = texts
  const row = (name: string, read: (rule: Rule) => string[]): Row => ({
    name,
    before: read(before),
    after: read(after),
  })
  const moment = (at: number | undefined): string[] =>
    at === undefined ? [] : [`${words.moment(at)} · ${names.utc(words.utc(at))}`]
  const rows = [
    row(names.strategy, ({ strategy }) => [texts.strategies[strategy].name]),
    ...Object.values(FORMS).flatMap((form) => form.rows({ before, after, words, texts, row })),
    row(fields.startTime, ({ startTime }) => moment(startTime)),
    row(fields.endTime, ({ endTime }) => moment(endTime)),
    row(fields.base, ({ base }) => (base === undefined ? [] : [base])),
    row(fields.exclude, ({ exclude = [] }) => exclude),
  ]
  return rows.filter((one) => one.before.join('\n') !== one.after.join('\n'))
}
