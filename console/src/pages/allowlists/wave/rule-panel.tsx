import { Button, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { Allowlist } from '../../../api/client.js'
import { Panel } from '../../../parts/panel.js'
import { useSignedIn } from '../../../session/store.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { customersOf, type Draft, type Problems } from './draft.js'
import { ListPicker, ListsPicker } from './list-picker.js'
import { RampChart } from './ramp-chart.js'
import { RampEditor } from './ramp-editor.js'
import { ReviewDialog, type Reviewed } from './review-dialog.js'
import { type Rule, STRATEGIES, type Strategy, turns } from './rule.js'
import { ShareField } from './share-field.js'
import { WindowFields } from './window-fields.js'

export interface RulePanelProps {
  list: Allowlist
  /** The saved rule. */
  rule: Rule
  /** The edited rule. */
  next: Rule
  draft: Draft
  onDraft(draft: Draft): void
  onDiscard(): void
  problems: Problems
  warnings: Problems
  isChanged: boolean
  /** Another user saved a rule since the edit started. */
  isOutdated: boolean
  now: number
  zone: string
  onZone(zone: string): void
  onChanged(): void
}

/** The rule of a wave: all users read it; admins change it after a review of the difference. */
export function RulePanel(props: RulePanelProps) {
  const { list, rule, next, problems, isChanged, isOutdated, now, zone } = props
  const { waves, common } = useTexts()
  const texts = waves.rule
  const { can } = useSignedIn()
  // The rule when the review started: exactly this is saved.
  const [reviewed, setReviewed] = useState<Reviewed>()
  const isWrong = Object.keys(problems).length > 0
  const hasPicture = next.strategy === 'PERCENTAGE' || turns(next).length > 0
  return (
    <Panel title={texts.title} lead={can('admin') && texts.lead}>
      <Stack gap="lg">
        {hasPicture && (
          <RampChart rule={next} saved={isChanged && !isWrong ? rule : undefined} now={now} zone={zone} />
        )}
        {can('admin') && list.paused !== undefined && <div className="notice">{texts.paused}</div>}
        {isOutdated && (
          <div className="notice" role="alert">
            <strong>{texts.outdated}</strong>
            <div>{texts.outdatedText}</div>
          </div>
        )}
        {!can('admin') && <div className="notice">{common.readOnly}</div>}
        <Fields {...props} />
        {can('admin') && (
          <Group gap="xs" className="save-bar">
            <Button
              disabled={!isChanged || isWrong}
              onClick={() => setReviewed({ list, before: rule, after: next })}
            >
              {texts.review}
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={props.onDiscard}>
              {texts.discard}
            </Button>
            <Text size="sm" c="dimmed" role="status">
              {isWrong ? texts.wrong : isChanged ? texts.changed : texts.unchanged}
            </Text>
          </Group>
        )}
      </Stack>
      <ReviewDialog
        {...(reviewed ?? { list, before: rule, after: next })}
        warnings={stepWarnings(props, waves.ramp.warned)}
        now={now}
        zone={zone}
        opened={reviewed !== undefined}
        onClose={() => setReviewed(undefined)}
        onChanged={props.onChanged}
      />
    </Panel>
  )
}

function Fields({ list, draft, onDraft, problems, warnings, zone, onZone }: RulePanelProps) {
  const { allowlists, waves } = useTexts()
  const texts = waves.rule
  const { can } = useSignedIn()
  const isFixed = !can('admin')
  const change = (changes: Partial<Draft>): void => onDraft({ ...draft, ...changes })
  return (
    <>
      <NativeSelect
        label={texts.strategy}
        value={draft.strategy}
        data={STRATEGIES.map((value) => ({ value, label: allowlists.create.strategies[value] }))}
        onChange={(event) => change({ strategy: event.currentTarget.value as Strategy })}
        disabled={isFixed}
        maw={420}
      />
      {draft.strategy === 'PERCENTAGE' && (
        <>
          <ShareField
            label={draft.ramp.length > 0 ? texts.shareBefore : texts.share}
            share={draft.share}
            error={problems.share}
            disabled={isFixed}
            onShare={(share) => change({ share })}
          />
          <RampEditor
            draft={draft}
            problems={problems}
            warnings={warnings}
            zone={zone}
            disabled={isFixed}
            onRamp={(ramp) => change({ ramp })}
          />
        </>
      )}
      {draft.strategy === 'EXPLICIT_LIST' && (
        <NamedCustomers draft={draft} problems={problems} disabled={isFixed} onDraft={onDraft} />
      )}
      <WindowFields
        draft={draft}
        problems={problems}
        zone={zone}
        disabled={isFixed}
        onZone={onZone}
        onChange={change}
      />
      <div className="choice-pair">
        <ListPicker
          label={texts.base}
          hint={texts.baseHint}
          value={draft.base}
          without={list.id}
          error={problems.base}
          disabled={isFixed}
          onChange={(base) => change({ base })}
        />
        <ListsPicker
          label={texts.exclude}
          hint={texts.excludeHint}
          values={draft.exclude}
          without={list.id}
          disabled={isFixed}
          onChange={(exclude) => change({ exclude })}
        />
      </div>
    </>
  )
}

function stepWarnings(
  { draft, warnings }: RulePanelProps,
  words: (number: string, warning: string) => string,
): string[] {
  return draft.ramp.flatMap(({ key }, index) => {
    const warning = warnings[key]
    return warning === undefined ? [] : [words(String(index + 1), warning)]
  })
}

interface NamedCustomersProps extends Pick<RulePanelProps, 'draft' | 'problems' | 'onDraft'> {
  disabled: boolean
}

function NamedCustomers({ draft, problems, disabled, onDraft }: NamedCustomersProps) {
  const { waves } = useTexts()
  const texts = waves.rule
  const format = useFormat()
  const count = customersOf(draft.customers).length
  return (
    <Textarea
      label={`${texts.customers} (${format.number(count)})`}
      description={texts.customersHint}
      value={draft.customers}
      onChange={(event) => onDraft({ ...draft, customers: event.currentTarget.value })}
      error={problems.customers}
      disabled={disabled}
      rows={6}
      spellCheck={false}
      classNames={{ input: 'mono' }}
    />
  )
}
