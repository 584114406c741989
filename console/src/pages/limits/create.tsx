import './limits.css'
import { Autocomplete, Button, Group, NativeSelect, Radio, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { Crumbs } from './crumbs.js'
import { editPath, effectiveLimits, type Level } from './model.js'
import { PRESETS, type PresetName, presetOf } from './presets.js'
import { readResources } from './store.js'
import { LimitList } from './words.js'

const LEVELS: readonly Level[] = ['resource', 'entity', 'system']

/** Asks for the level of a new configuration, then opens its form. */
export default function CreatePage() {
  const { limits: texts, guards, common } = useTexts()
  const [, navigate] = useLocation()
  const resources = useQuery('resources', (signal) => readResources({ signal }))
  const [level, setLevel] = useState<Level>('resource')
  const [resource, setResource] = useState('')
  const [entity, setEntity] = useState('')
  const [preset, setPreset] = useState('')
  const [tried, setTried] = useState(false)
  const missing = (value: string): string | undefined =>
    tried && value.trim() === '' ? guards.missing : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setTried(true)
    const isComplete = resource.trim() !== '' && (level !== 'entity' || entity.trim() !== '')
    if (!isComplete) return
    const path = editPath({ level, resource: resource.trim(), entity: entity.trim() })
    navigate(preset === '' ? path : `${path}?preset=${preset}`)
  }
  return (
    <Page title={texts.createTitle} lead={<Crumbs />}>
      <Panel>
        <form onSubmit={submit} noValidate>
          <Stack gap="md" maw={560}>
            <Radio.Group label={texts.level} value={level} onChange={(value) => setLevel(value as Level)}>
              <Stack gap="xs" mt={6}>
                {LEVELS.map((each) => (
                  <Radio
                    key={each}
                    value={each}
                    label={texts.levelTitles[each]}
                    description={texts.levelLeads[each]}
                  />
                ))}
              </Stack>
            </Radio.Group>
            {level === 'entity' && (
              <TextInput
                label={texts.entity}
                description={texts.entityHint}
                value={entity}
                onChange={(event) => setEntity(event.currentTarget.value)}
                error={missing(entity)}
                autoComplete="off"
                spellCheck={false}
              />
            )}
            <Autocomplete
              label={texts.resource}
              description={texts.resourceHint}
              data={[...(resources.data?.levels.keys() ?? [])]}
              limit={50}
              value={resource}
              onChange={setResource}
              error={missing(resource)}
              spellCheck={false}
            />
            <PresetChoice value={preset} onChange={setPreset} />
            <Group gap="xs">
              <Button type="submit">{texts.goOn}</Button>
              <Button variant="default" component={Link} href="/limits">
                {common.cancel}
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
    </Page>
  )
}

function PresetChoice({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { limits: texts } = useTexts()
  const preset = presetOf(value)
  const label = (name: PresetName): string => texts.presets[name]
  return (
    <div>
      <NativeSelect
        label={texts.startFrom}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        data={[
          { value: '', label: texts.startEmpty },
          ...PRESETS.map((name) => ({ value: name, label: label(name) })),
        ]}
      />
      {preset !== undefined && (
        <div className="preset-limits">
          <LimitList items={effectiveLimits({ system: preset }, ['system'])} />
        </div>
      )}
    </div>
  )
}
