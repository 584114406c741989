import { Button, Group, NativeSelect } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { CallOptions } from '../../../../src/client/operation.js'
import { dropUnsaved, unsavedOf, useUnsaved } from '../../data/unsaved.js'
import { useAction } from '../../data/use-action.js'
import { announce } from '../../parts/announcer.js'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import {
  configOf,
  type Draft,
  draftLimit,
  draftOf,
  type Faults,
  faultsOf,
  type LimitDraft,
  sameDraft,
} from './form-model.js'
import { InheritedLimits } from './inherited-limits.js'
import { LimitFields } from './limit-fields.js'
import {
  type Address,
  type ConfigField,
  configFields,
  type Level,
  type LevelConfig,
  type Levels,
  levelsBelow,
  levelsFrom,
  limitNames,
} from './model.js'
import { PreviewDialog } from './preview-dialog.js'
import { readConfig, writeConfig } from './store.js'

export interface EditFormProps {
  address: Address
  levels: Levels
  /** Merged into the form, over its present values. */
  preset: LevelConfig | undefined
  onDone(): void
}

/** The configuration read again for the preview, because another user may have changed it meanwhile. */
interface Preview {
  before: LevelConfig | undefined
  after: LevelConfig
}

export function EditForm({ address, levels, preset, onDone }: EditFormProps) {
  const { limits: texts, common } = useTexts()
  const { level } = address
  const [start] = useState(() => startOf(levels, level, preset))
  const name = `limits ${JSON.stringify(address)}`
  const [draft, setDraft] = useState(() => unsavedOf<Draft>(name) ?? start)
  const isChanged = draft !== start && !sameDraft(draft, start)
  const [isFoundAgain] = useState(isChanged)
  useUnsaved(name, isChanged ? draft : undefined, common.unsavedKept)
  const [faults, setFaults] = useState<Faults>({})
  const [preview, setPreview] = useState<Preview>()
  const looking = useAction(async () => {
    setPreview({ before: await readConfig(address), after: configOf(draft, level) })
  })
  const saving = useAction(async (config: LevelConfig, call: CallOptions) => {
    await writeConfig(address, config, call)
    announce(texts.saved)
    leave()
  })
  const leave = (): void => {
    dropUnsaved(name)
    onDone()
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const found = faultsOf(draft)
    setFaults(found)
    saving.reset()
    if (Object.keys(found).length === 0) void looking.run()
  }
  const putLimits = (limits: LimitDraft[]): void => setDraft({ ...draft, limits })
  const replace = (next: LimitDraft): void =>
    putLimits(draft.limits.map((one) => (one.key === next.key ? next : one)))
  return (
    <form onSubmit={submit} noValidate className="edit-form">
      <p className="detail edit-lead">{texts.emptyIsInherited[level]}</p>
      {isFoundAgain && isChanged && (
        <div className="notice" role="status">
          <div>{texts.foundAgain}</div>
          <Button size="compact-sm" variant="default" mt="xs" onClick={() => setDraft(start)}>
            {texts.discard}
          </Button>
        </div>
      )}
      {draft.limits.map((limit) => (
        <LimitFields
          key={limit.key}
          draft={limit}
          levels={{ ...levels, [level]: configOf(draft, level) }}
          level={level}
          faults={faults}
          problem={saving.problem}
          onChange={replace}
          onRemove={() => putLimits(draft.limits.filter(({ key }) => key !== limit.key))}
        />
      ))}
      <InheritedLimits
        levels={levels}
        order={levelsBelow(level)}
        taken={draft.limits.map(({ name }) => name.trim())}
        onOverride={(name) => putLimits([...draft.limits, draftLimit(name, {})])}
      />
      <Button
        variant="default"
        leftSection={<Icon name="plus" size={16} />}
        onClick={() => putLimits([...draft.limits, draftLimit('', {})])}
      >
        {texts.addLimit}
      </Button>
      <Others draft={draft} levels={levels} address={address} onChange={setDraft} />
      {faults.form !== undefined && (
        <div className="notice" role="alert">
          {texts.faults.empty}
        </div>
      )}
      <ProblemView problem={looking.problem} />
      <Group gap="xs">
        <Button type="submit" loading={looking.running}>
          {texts.preview}
        </Button>
        <Button variant="default" onClick={leave}>
          {common.cancel}
        </Button>
      </Group>
      <PreviewDialog
        address={address}
        levels={levels}
        preview={preview}
        saving={saving}
        onClose={() => setPreview(undefined)}
      />
    </form>
  )
}

function startOf(levels: Levels, level: Level, preset: LevelConfig | undefined): Draft {
  const config = levels[level]
  const draft = draftOf({ ...config, limits: { ...config?.limits, ...preset?.limits } })
  // Shows an empty card when there is no limit to start from.
  const isNew = draft.limits.length === 0 && limitNames(levels, levelsFrom(level)).length === 0
  return isNew ? { ...draft, limits: [draftLimit('', {})] } : draft
}

interface OthersProps {
  draft: Draft
  levels: Levels
  address: Address
  onChange(draft: Draft): void
}

/** Fields of the level that belong to no limit. */
function Others({ draft, levels, address, onChange }: OthersProps) {
  const { limits: texts } = useTexts()
  const { level } = address
  const inherited = (field: ConfigField): string => {
    const from = levelsBelow(level).find((each) => levels[each]?.[field] !== undefined)
    if (from === undefined) return texts.inheritedDefault
    const value = texts.values[`${field}.${levels[from]![field]}` as keyof typeof texts.values]
    return texts.inheritedFrom(value, texts.levels[from])
  }
  return (
    <Panel title={texts.others}>
      <div className="limit-grid">
        {configFields(level).map((field) => (
          <NativeSelect
            key={field}
            label={texts.fields[field]}
            description={texts.fieldHints[field]}
            value={draft.others[field]}
            onChange={(event) =>
              onChange({ ...draft, others: { ...draft.others, [field]: event.currentTarget.value } })
            }
            data={[
              { value: '', label: inherited(field) },
              ...(field === 'onUnavailable' ? ['allow', 'block', 'local'] : ['true', 'false']).map(
                (value) => ({
                  value,
                  label: texts.values[`${field}.${value}` as keyof typeof texts.values],
                }),
              ),
            ]}
          />
        ))}
      </div>
    </Panel>
  )
}
