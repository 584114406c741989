import { Table } from '@mantine/core'
import { useTexts } from '../../../texts/language.js'
import { LARGEST_STRIDE } from './draft.js'
import { type Rule, shareNow } from './rule.js'
import type { Words } from './use-words.js'

interface Row {
  name: string
  before: string[]
  after: string[]
}

const MANY = 10

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
  const isJump = after.strategy !== 'EXPLICIT_LIST' && becomes - was > LARGEST_STRIDE
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
  const { allowlists, waves } = useTexts()
  const { rule: names, ramp, difference } = waves
  const moment = (at: number | undefined): string[] =>
    at === undefined ? [] : [`${words.moment(at)} · ${names.utc(words.utc(at))}`]
  const steps = ({ ramp: given = [] }: Rule): string[] =>
    given.map(({ at, percentage }) => `${words.moment(at)}: ${words.share(percentage)}`)
  const share = ({ strategy, percentage = 0 }: Rule): string[] =>
    strategy === 'PERCENTAGE' ? [words.share(percentage)] : []
  const pairs: Row[] = [
    row(names.strategy, (rule) => [allowlists.create.strategies[rule.strategy]]),
    row(names.share, share),
    row(ramp.title, steps),
    row(names.from, ({ startTime }) => moment(startTime)),
    row(names.to, ({ endTime }) => moment(endTime)),
    row(names.base, ({ base }) => (base === undefined ? [] : [base])),
    row(names.exclude, ({ exclude = [] }) => exclude),
    namedRow(),
  ]
  return pairs.filter((pair) => pair.before.join('\n') !== pair.after.join('\n'))

  function row(name: string, read: (rule: Rule) => string[]): Row {
    return { name, before: read(before), after: read(after) }
  }

  /** Thousands of names cannot be compared by eye, so only added and removed ones are shown. */
  function namedRow(): Row {
    const [was, is] = [before.customerIds ?? [], after.customerIds ?? []]
    const [had, has] = [new Set(was), new Set(is)]
    const come = is.filter((id) => !had.has(id))
    const go = was.filter((id) => !has.has(id))
    const some = (sign: string, ids: string[]): string[] => [
      ...ids.slice(0, MANY).map((id) => `${sign} ${id}`),
      ...(ids.length > MANY ? ['…'] : []),
    ]
    const count = (ids: string[]): string => names.customersCount(words.number(ids.length))
    return {
      name: names.customers,
      before: come.length + go.length === 0 ? [] : [count(was)],
      after:
        come.length + go.length === 0
          ? []
          : [
              count(is),
              ...(come.length > 0 ? [difference.added(words.number(come.length)), ...some('+', come)] : []),
              ...(go.length > 0 ? [difference.gone(words.number(go.length)), ...some('−', go)] : []),
            ],
    }
  }
}
