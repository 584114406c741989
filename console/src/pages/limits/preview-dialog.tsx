import { Button, Group, Modal, Stack, Table } from '@mantine/core'
import type { CallOptions } from '../../../../src/client/operation.js'
import type { Action } from '../../data/use-action.js'
import { Curl } from '../../parts/curl.js'
import { ProblemView } from '../../parts/problem.js'
import { useReason } from '../../parts/reason.js'
import { useFormat, useTexts } from '../../texts/language.js'
import {
  type Address,
  apiPath,
  type Difference,
  differences,
  effectiveLimit,
  type Level,
  type LevelConfig,
  type Levels,
  type LimitField,
  levelsBelow,
  levelsFrom,
  saidOf,
} from './model.js'
import { shownValue, useLimitWords } from './words.js'

export interface PreviewDialogProps {
  address: Address
  levels: Levels
  preview: { before: LevelConfig | undefined; after: LevelConfig } | undefined
  /** Saves the configuration; errors of the server are also shown at the fields. */
  saving: Action<[LevelConfig, CallOptions]>
  onClose(): void
}

/** Shows what will change, field by field and in words, before it is saved. */
export function PreviewDialog({ address, levels, preview, saving, onClose }: PreviewDialogProps) {
  const { limits: texts, common } = useTexts()
  return (
    <Modal
      opened={preview !== undefined}
      onClose={onClose}
      title={texts.previewTitle}
      size="xl"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      {preview !== undefined && (
        <Preview address={address} levels={levels} {...preview} saving={saving} onClose={onClose} />
      )}
    </Modal>
  )
}

interface PreviewProps extends Omit<PreviewDialogProps, 'preview'> {
  before: LevelConfig | undefined
  after: LevelConfig
}

function Preview({ address, levels, before, after, saving, onClose }: PreviewProps) {
  const { limits: texts } = useTexts()
  const { level } = address
  const reason = useReason()
  const changes = differences(before, after, level)
  const isStale = differences(levels[level], before, level).length > 0
  const names = [...new Set(changes.map(({ limit }) => limit))].filter((name) => name !== '')
  return (
    <Stack gap="md">
      {isStale && <div className="notice">{texts.changedMeanwhile}</div>}
      {changes.length === 0 ? (
        <div className="notice">{texts.noChange}</div>
      ) : (
        <>
          <Meaning names={names} levels={levels} level={level} before={before} after={after} />
          <Changes changes={changes} levels={levels} level={level} />
          <p className="detail dialog-text">{texts.whoIsConcerned[level]}</p>
        </>
      )}
      {changes.length > 0 && reason.field}
      <ProblemView problem={saving.problem} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {texts.back}
        </Button>
        <Button
          loading={saving.running}
          disabled={changes.length === 0}
          onClick={() => void saving.run(after, reason.call)}
          data-autofocus
        >
          {texts.save}
        </Button>
      </Group>
      {changes.length > 0 && <Curl method="PUT" path={apiPath(address)} body={after} />}
    </Stack>
  )
}

interface MeaningProps {
  names: readonly string[]
  levels: Levels
  level: Level
  before: LevelConfig | undefined
  after: LevelConfig
}

/** Each changed limit before and after, combined with the levels below. */
function Meaning({ names, levels, level, before, after }: MeaningProps) {
  const { limits: texts } = useTexts()
  const words = useLimitWords()
  const order = levelsFrom(level)
  const holds = (config: LevelConfig | undefined, name: string): string => {
    const all = { ...levels, [level]: config }
    const isKnown = order.some((each) => Object.hasOwn(all[each]?.limits ?? {}, name))
    return isKnown ? words(effectiveLimit(all, order, name)) : texts.noLimit
  }
  if (names.length === 0) return null
  return (
    <ul className="meaning">
      {names.map((name) => (
        <li key={name}>
          <strong>{name}</strong>
          <span className="was">
            <span className="visually-hidden">{texts.before} </span>
            {holds(before, name)}
          </span>
          <span aria-hidden="true">→</span>
          <span className="becomes">
            <span className="visually-hidden">{texts.after} </span>
            {holds(after, name)}
          </span>
        </li>
      ))}
    </ul>
  )
}

interface ChangesProps {
  changes: readonly Difference[]
  levels: Levels
  level: Level
}

function Changes({ changes, levels, level }: ChangesProps) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  /** The value that applies when the level itself states none. */
  const inherited = ({ limit, field }: Difference): string => {
    if (limit === '' || field === 'limit') return texts.nothingSaid
    const said = saidOf(levels, levelsBelow(level), limit, field as LimitField)
    if (said === undefined) return texts.nothingSaid
    const value = said.value === undefined ? texts.asCapacity : shownValue(said.value, format)
    return texts.inherited(texts.inheritedFrom(value, texts.levels[said.from]))
  }
  const shown = (change: Difference, value: Difference['before']): string =>
    value === undefined ? inherited(change) : shownValue(value, format)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section className="table-scroll" aria-label={texts.previewTitle} tabIndex={0}>
      <Table verticalSpacing={5}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.field}</Table.Th>
            <Table.Th>{texts.before}</Table.Th>
            <Table.Th>{texts.after}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => (
            <Table.Tr key={`${change.limit} ${change.field}`}>
              <Table.Td>
                {change.limit !== '' && <strong>{change.limit} </strong>}
                {texts.fields[change.field]}
              </Table.Td>
              <Table.Td className="was">{shown(change, change.before)}</Table.Td>
              <Table.Td className="becomes">{shown(change, change.after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}
