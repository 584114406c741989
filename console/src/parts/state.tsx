import type { ReactNode } from 'react'
import { Icon, type IconName } from './icons.js'

export type StateKind = 'good' | 'bad' | 'warning' | 'neutral'

const ICONS: Record<StateKind, IconName> = { good: 'check', bad: 'cross', warning: 'warning', neutral: 'dot' }

/** A state as a word, with a shape and a colour. */
export function State({ kind, children }: { kind: StateKind; children: ReactNode }) {
  return (
    <span className={`state state-${kind}`}>
      <Icon name={ICONS[kind]} size={14} />
      {children}
    </span>
  )
}

/** A plain label: a scope, a type. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className="tag">{children}</span>
}
