import { AppShell, Burger, Group, UnstyledButton } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useReachable } from '../api/connection.js'
import type { Route } from '../routes.js'
import type { SessionInfo } from '../session/store.js'
import { useTexts } from '../texts/language.js'
import { HeaderMenus } from './header-menus.js'
import { Brand, Icon } from './icons.js'

const GROUPS = ['look', 'guards', 'administer'] as const

export interface LayoutProps {
  info: SessionInfo
  routes: readonly Route[]
  children: ReactNode
}

export function Layout({ info, routes, children }: LayoutProps) {
  const { common } = useTexts()
  const [location] = useLocation()
  const [opened, setOpened] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when another page is shown.
  useEffect(() => setOpened(false), [location])
  return (
    <AppShell
      header={{ height: 54 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="skip-link" href="#content">
        {common.skipToContent}
      </a>
      <AppShell.Header className="shell-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={() => setOpened(!opened)}
              hiddenFrom="sm"
              size="sm"
              aria-label={common.menu}
              aria-expanded={opened}
            />
            <Link className="brand" href="/">
              <Brand />
              {common.product}
            </Link>
          </Group>
          <Group gap={6} wrap="nowrap">
            <JumpButton routes={routes} />
            <HeaderMenus info={info} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="shell-navbar" p="xs" aria-label={common.navigation}>
        {GROUPS.map((group) => (
          <MenuGroup key={group} group={group} routes={routes} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Offline />
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

const Jump = lazy(() => import('./jump.js'))
const isMac = navigator.platform.startsWith('Mac')

/** Opens the search for anything by name, as Ctrl+K does. */
function JumpButton({ routes }: { routes: readonly Route[] }) {
  const { jump: texts } = useTexts()
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return
      event.preventDefault()
      setOpened(true)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <UnstyledButton className="jump-button" onClick={() => setOpened(true)} aria-keyshortcuts="Control+K">
        <Icon name="search" size={16} />
        <span className="jump-label">{texts.open}</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </UnstyledButton>
      {opened && (
        <Suspense>
          <Jump routes={routes} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  )
}

/** Said once for the whole page. */
function Offline() {
  const { common } = useTexts()
  if (useReachable()) return null
  return (
    <div className="offline" role="alert">
      <Icon name="warning" />
      {common.offline}
    </div>
  )
}

interface MenuGroupProps {
  group: (typeof GROUPS)[number]
  routes: readonly Route[]
}

function MenuGroup({ group, routes }: MenuGroupProps) {
  const texts = useTexts()
  const [location] = useLocation()
  const entries = routes.filter(({ menu }) => menu?.group === group)
  if (entries.length === 0) return null
  return (
    <>
      <div className="nav-group" id={`nav-${group}`}>
        {texts.common.groups[group]}
      </div>
      <ul className="nav-list" aria-labelledby={`nav-${group}`}>
        {entries.map(({ path, menu }) => (
          <li key={path}>
            <Link className="nav-link" href={path} {...(isCurrent(path, location) ? CURRENT : {})}>
              <Icon name={menu!.icon} />
              {menu!.title(texts)}
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

const CURRENT = { 'aria-current': 'page' } as const

/** The page of one list belongs to the menu entry of all lists. */
function isCurrent(path: string, location: string): boolean {
  return location === path || (path !== '/' && location.startsWith(`${path}/`))
}
