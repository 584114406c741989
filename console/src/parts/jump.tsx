import { Modal, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../api/client.js'
import { useLists, useTyped } from '../data/use-lists.js'
import { useQuery } from '../data/use-query.js'
import { listPath } from '../pages/allowlists/list-path.js'
import { checkPath } from '../pages/check/check-path.js'
import { resourcePath } from '../pages/limits/model.js'
import type { Route } from '../routes.js'
import { useSignedIn } from '../session/store.js'
import { useTexts } from '../texts/language.js'
import { Icon, type IconName } from './icons.js'

export interface JumpProps {
  routes: readonly Route[]
  onClose(): void
}

interface Target {
  href: string
  icon: IconName
  name: string
  kind: string
}

/** Of each kind. */
const SHOWN = 8

/** Anything by its name: pages, lists, limits, and look-ups of what is typed. */
export default function Jump({ routes, onClose }: JumpProps) {
  const { common, jump: texts } = useTexts()
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const targets = useTargets(routes, typed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words have another first match.
  useEffect(() => setAt(0), [typed])
  const current = Math.min(at, targets.length - 1)
  const go = (target: Target | undefined): void => {
    if (target === undefined) return
    onClose()
    navigate(target.href)
    // wouter does not tell of another part behind `#`.
    dispatchEvent(new Event('popstate'))
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && targets.length > 0) {
      event.preventDefault()
      setAt((current + step + targets.length) % targets.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      go(targets[current])
    }
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.title}
      yOffset="8vh"
      size="lg"
      closeButtonProps={{ 'aria-label': common.close }}
    >
      <TextInput
        aria-label={texts.title}
        placeholder={texts.placeholder}
        leftSection={<Icon name="search" size={16} />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={press}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={targets.length === 0 ? undefined : `${id} ${current}`}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <div className="jump-list" id={id} role="listbox" aria-label={texts.found}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys.
          <div
            key={`${target.kind} ${target.href}`}
            id={`${id} ${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className="jump-option"
            onClick={() => go(target)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={target.icon} size={16} />
            <span className="jump-name">{target.name}</span>
            <span className="detail">{target.kind}</span>
          </div>
        ))}
      </div>
      {targets.length === 0 && <p className="detail">{texts.nothing}</p>}
    </Modal>
  )
}

function useTargets(routes: readonly Route[], typed: string): Target[] {
  const texts = useTexts()
  const { can } = useSignedIn()
  const words = texts.jump
  const wanted = typed.trim()
  const search = useTyped(typed)
  const isHere = (text: string): boolean => text.toLowerCase().includes(wanted.toLowerCase())
  const lists = useLists(typed, can('read'))
  const resources = useQuery(
    'resources',
    async (signal) => {
      const pages = await Promise.all([
        api.listResourceConfigs({ limit: 1000 }, { signal }),
        api.listSystemConfigs({ limit: 1000 }, { signal }),
      ])
      return [...new Set(pages.flatMap(({ items }) => items.map(({ resource }) => resource)))].toSorted()
    },
    { enabled: can('read') },
  )
  const pages = routes
    .filter(({ menu }) => menu !== undefined)
    .map(({ path, menu }): Target => {
      return { href: path, icon: menu!.icon, name: menu!.title(texts), kind: words.page }
    })
    .filter(({ name }) => isHere(name))
  if (wanted === '') return pages
  const isReached = (path: string): boolean => routes.some((route) => route.path === path)
  const lookUps: (Target & { page: string })[] = [
    { page: '/check', href: checkPath(wanted, []), icon: 'question', name: wanted, kind: words.customer },
    {
      page: '/locks',
      href: `/locks#${new URLSearchParams({ name: wanted })}`,
      icon: 'lock',
      name: wanted,
      kind: words.lock,
    },
    {
      page: '/audit',
      href: `/audit?${new URLSearchParams({ search: wanted })}`,
      icon: 'history',
      name: wanted,
      kind: words.audit,
    },
  ]
  return [
    ...pages,
    // While typing goes on, what was found for other words is not offered.
    ...(search === wanted ? lists : [])
      .slice(0, SHOWN)
      .map(({ id, name }) => ({ href: listPath(id), icon: 'list' as const, name, kind: id })),
    ...(resources.data ?? [])
      .filter(isHere)
      .slice(0, SHOWN)
      .map((name) => ({ href: resourcePath(name), icon: 'gauge' as const, name, kind: words.limit })),
    ...lookUps.filter(({ page }) => isReached(page)),
  ]
}
