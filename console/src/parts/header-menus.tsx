import { ActionIcon, Group, Menu, Text, useMantineColorScheme } from '@mantine/core'
import { type SessionInfo, signOut } from '../session/store.js'
import { LANGUAGES, type Language, useLanguage } from '../texts/language.js'
import { Icon } from './icons.js'

export const COLOURS = ['auto', 'light', 'dark'] as const

export function HeaderMenus({ info }: { info: SessionInfo }) {
  const { texts } = useLanguage()
  const { common } = texts
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" c="dimmed" visibleFrom="sm" mr={6}>
        {info.keysRequired ? info.name : common.noKeys}
      </Text>
      <LanguageMenu />
      <ColourMenu />
      {info.keysRequired && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={common.signOut}
          title={common.signOut}
          onClick={() => signOut('chosen')}
        >
          <Icon name="exit" />
        </ActionIcon>
      )}
    </Group>
  )
}

export function LanguageMenu() {
  const { language, setLanguage, texts } = useLanguage()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={texts.common.language}>
          <Icon name="language" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(LANGUAGES) as Language[]).map((name) => (
          <Menu.Item
            key={name}
            lang={name}
            leftSection={<Chosen when={name === language} />}
            onClick={() => setLanguage(name)}
          >
            {LANGUAGES[name]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

export function ColourMenu() {
  const { common } = useLanguage().texts
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const names = { auto: common.coloursAuto, light: common.coloursLight, dark: common.coloursDark }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={common.colours}>
          <Icon name="sun" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {COLOURS.map((scheme) => (
          <Menu.Item
            key={scheme}
            leftSection={<Chosen when={scheme === colorScheme} />}
            onClick={() => setColorScheme(scheme)}
          >
            {names[scheme]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Chosen({ when }: { when: boolean }) {
  return when ? <Icon name="check" size={14} /> : <span className="icon-space" />
}
