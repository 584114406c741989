import { useTexts } from '../../../../texts/language.js'
import type { Rule } from '../rule.js'
import { shareOf } from '../typed.js'
import type { FieldsProps, StrategyForm } from './form.js'
import { type RampDraft, rampInZone, rampProblems, rampWarnings, stepOf, stepsOf } from './ramp.js'
import { RampEditor } from './ramp-editor.js'
import { ShareField, ShareNumber } from './share-field.js'

export const percentage: StrategyForm<RampDraft> = {
  first: () => ({ percentage: 0 }),
  empty: { percentage: 0, ramp: [] },
  draftOf: (rule, zone) => ({
    share: shareOf(rule.percentage ?? 0),
    ramp: (rule.ramp ?? []).map((step) => stepOf(step, zone)),
  }),
  inZone: rampInZone,
  ruleOf(draft) {
    const ramp = stepsOf(draft)
    return { percentage: draft.share.value ?? 0, ...(ramp.length > 0 && { ramp }) }
  },
  problemsOf: rampProblems,
  warningsOf(draft, texts) {
    const warnings = rampWarnings(draft, texts.warnings)
    return draft.ramp.flatMap(({ key }, index) => {
      const warning = warnings[key]
      return warning === undefined ? [] : [texts.ramp.warned(String(index + 1), warning)]
    })
  },
  Fields,
  FirstFields,
  rows: ({ row, words, texts: { fields } }) => [
    row(fields.percentage, (rule) => (isOwn(rule) ? [words.share(rule.percentage ?? 0)] : [])),
    row(fields.ramp, ({ ramp = [] }) =>
      ramp.map((step) => `${words.moment(step.at)}: ${words.share(step.percentage)}`),
    ),
  ],
  isShare: true,
  pauseTexts: ({ ramp = [] }, texts, number) => [
    texts.text,
    ...(ramp.length > 0 ? [texts.textRamp(number(ramp.length))] : []),
  ],
}

const isOwn = ({ strategy }: Rule): boolean => strategy === 'PERCENTAGE'

function Fields({ draft, problems, zone, disabled, onChange }: FieldsProps<RampDraft>) {
  const { waves } = useTexts()
  return (
    <>
      <ShareField
        label={draft.ramp.length > 0 ? waves.rule.shareBefore : waves.fields.percentage}
        share={draft.share}
        error={problems.share}
        disabled={disabled}
        onShare={(share) => onChange({ share })}
      />
      <RampEditor
        draft={draft}
        problems={problems}
        zone={zone}
        disabled={disabled}
        onRamp={(ramp) => onChange({ ramp })}
      />
    </>
  )
}

function FirstFields({ draft, problems, onChange }: FieldsProps<RampDraft>) {
  const { allowlists } = useTexts()
  return (
    <ShareNumber
      label={allowlists.create.share}
      description={allowlists.create.shareHint}
      share={draft.share}
      onShare={(share) => onChange({ share })}
      error={problems.share}
    />
  )
}
