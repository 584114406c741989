import { ActionIcon, Group, Menu, Text, useMantineColorScheme } from '@mantine/core'
import { useState } from 'react'
import { dropAllUnsaved, hasUnsaved } from '../data/unsaved.js'
import { type SessionInfo, signOut } from '../session/store.js'
import { LANGUAGES, type Language, useLanguage } from '../texts/language.js'
import { ConfirmDialog } from './confirm-dialog.js'
import { Icon } from './icons.js'
import { WhoMenu } from './who-menu.js'

export const COLOURS = ['auto', 'light', 'dark'] as const

export function HeaderMenus({ info }: { info: SessionInfo }) {
  const { texts } = useLanguage()
  const { common } = texts
  const [asking, setAsking] = useState(false)
  return (
    <Group gap={6} wrap="nowrap">
      {info.person === undefined ? (
        <Text size="sm" c="dimmed" visibleFrom="sm" mr={6}>
          {info.keysRequired ? info.name : common.noKeys}
        </Text>
      ) : (
        <WhoMenu info={info} person={info.person} />
      )}
      <LanguageMenu />
      <ColourMenu />
      {info.keysRequired && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={common.signOut}
          title={common.signOut}
          onClick={() => (hasUnsaved() ? setAsking(true) : leave())}
        >
          <Icon name="exit" />
        </ActionIcon>
      )}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={common.unsavedTitle}
        confirmLabel={common.signOut}
        isLocal
        onConfirm={async () => leave()}
      >
        {common.unsavedText}
      </ConfirmDialog>
    </Group>
  )
}

function leave(): void {
  dropAllUnsaved()
  signOut('chosen')
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
