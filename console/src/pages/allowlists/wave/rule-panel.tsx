import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Allowlist } from '../../../api/client.js'
import { Panel } from '../../../parts/panel.js'
import { useSignedIn } from '../../../session/store.js'
import { useTexts } from '../../../texts/language.js'
import type { Entry } from '../../audit/audit.js'
import { ListPicker, ListsPicker } from './list-picker.js'
import { RampChart } from './ramp-chart.js'
import { ReviewDialog, type Reviewed } from './review-dialog.js'
import { type Rule, type Strategy, turns } from './rule.js'
import { type Draft, FORMS, STRATEGIES } from './strategies/index.js'
import { Traffic } from './traffic.js'
import type { Problems } from './typed.js'
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
  isChanged: boolean
  /** Another user saved a rule since the edit started. */
  isOutdated: boolean
  /** Recorded changes, marked in the chart. */
  entries: readonly Entry[]
  now: number
  zone: string
  onZone(zone: string): void
  onChanged(): void
}

/** The rule of a wave: all users read it; admins change it after a review of the difference. */
export function RulePanel(props: RulePanelProps) {
  const { list, rule, next, draft, problems, isChanged, isOutdated, now, zone } = props
  const { waves, common } = useTexts()
  const texts = waves.rule
  const { can } = useSignedIn()
  // The rule when the review started: exactly this is saved.
  const [reviewed, setReviewed] = useState<Reviewed>()
  const isWrong = Object.keys(problems).length > 0
  const form = FORMS[draft.strategy]
  const hasPicture = form.isShare || turns(next).length > 0
  return (
    <Panel title={texts.title} lead={can('admin') && texts.lead} weight="main">
      <Stack gap="lg">
        {hasPicture && (
          <RampChart
            rule={next}
            saved={isChanged && !isWrong ? rule : undefined}
            marks={props.entries.map(({ at }) => Date.parse(at))}
            now={now}
            zone={zone}
          />
        )}
        <Traffic id={list.id} entries={props.entries} />
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
        warnings={form.warningsOf?.(draft, waves) ?? []}
        now={now}
        zone={zone}
        opened={reviewed !== undefined}
        onClose={() => setReviewed(undefined)}
        onChanged={props.onChanged}
      />
    </Panel>
  )
}

function Fields({ list, draft, onDraft, problems, zone, onZone }: RulePanelProps) {
  const { waves } = useTexts()
  const texts = waves.rule
  const { can } = useSignedIn()
  const isFixed = !can('admin')
  const { Fields: OwnFields } = FORMS[draft.strategy]
  const change = (changes: Partial<Draft>): void => onDraft({ ...draft, ...changes })
  return (
    <>
      <NativeSelect
        label={texts.strategy}
        value={draft.strategy}
        data={STRATEGIES.map((value) => ({ value, label: waves.strategies[value].name }))}
        onChange={(event) => change({ strategy: event.currentTarget.value as Strategy })}
        disabled={isFixed}
        maw={420}
      />
      <OwnFields draft={draft} problems={problems} zone={zone} disabled={isFixed} onChange={change} />
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
          label={waves.fields.base}
          hint={texts.baseHint}
          value={draft.base}
          without={list.id}
          error={problems.base}
          disabled={isFixed}
          onChange={(base) => change({ base })}
        />
        <ListsPicker
          label={waves.fields.exclude}
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
