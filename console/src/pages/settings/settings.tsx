import { SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core'
import { COLOURS } from '../../parts/header-menus.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { Tag } from '../../parts/state.js'
import { useSignedIn } from '../../session/store.js'
import { LANGUAGES, type Language, useLanguage } from '../../texts/language.js'
import { KeysPanel } from './keys-panel.js'

export default function SettingsPage() {
  const { texts } = useLanguage()
  const { can, reachesAll } = useSignedIn()
  return (
    <Page title={texts.settings.title}>
      {can('admin') && reachesAll && <KeysPanel />}
      <LookPanel />
      <ServerPanel />
    </Page>
  )
}

function LookPanel() {
  const { language, setLanguage, texts } = useLanguage()
  const { common, settings } = texts
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const names = { auto: common.coloursAuto, light: common.coloursLight, dark: common.coloursDark }
  return (
    <Panel title={settings.look} lead={settings.lookLead}>
      <div className="pair">
        <Stack gap={6}>
          <Text size="sm" fw={500} id="choose-language">
            {common.language}
          </Text>
          <SegmentedControl
            aria-labelledby="choose-language"
            value={language}
            onChange={(value) => setLanguage(value as Language)}
            data={(Object.keys(LANGUAGES) as Language[]).map((value) => ({ value, label: LANGUAGES[value] }))}
          />
        </Stack>
        <Stack gap={6}>
          <Text size="sm" fw={500} id="choose-colours">
            {common.colours}
          </Text>
          <SegmentedControl
            aria-labelledby="choose-colours"
            value={colorScheme}
            onChange={(value) => setColorScheme(value as (typeof COLOURS)[number])}
            data={COLOURS.map((value) => ({ value, label: names[value] }))}
          />
        </Stack>
      </div>
    </Panel>
  )
}

function ServerPanel() {
  const { common, settings } = useLanguage().texts
  const { name, scopes, keysRequired, version, store, person } = useSignedIn()
  return (
    <Panel title={settings.server}>
      <dl className="facts">
        {store !== undefined && (
          <>
            <dt>{common.store}</dt>
            <dd className="mono">{store}</dd>
          </>
        )}
        <dt>{common.version}</dt>
        <dd>{version}</dd>
        <dt>{person === undefined ? settings.key : settings.person}</dt>
        <dd>{keysRequired ? name : common.noKeys}</dd>
        <dt>{settings.scopes}</dt>
        <dd className="tags">
          {scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </dd>
      </dl>
    </Panel>
  )
}
