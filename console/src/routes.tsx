import { type ComponentType, lazy } from 'react'
import type { IconName } from './parts/icons.js'
import { allows, type Scope, type SessionInfo } from './session/store.js'
import type { Texts } from './texts/en.js'

export interface Route {
  /** Below /console; `:name` parts are parameters, read with wouter's `useParams`. */
  path: string
  page: ComponentType
  /** Shown to keys with one of these scopes; to all when absent. */
  scopes?: readonly Scope[]
  /** Entry of the menu; pages without one are reached from other pages. */
  menu?: { group: keyof Texts['common']['groups']; icon: IconName; title(texts: Texts): string }
}

/** Every page, in the order of the menu. Each is loaded when it is first shown. */
export const ROUTES: readonly Route[] = [
  {
    path: '/',
    page: lazy(() => import('./pages/overview/overview.js')),
    scopes: ['read'],
    menu: { group: 'look', icon: 'overview', title: (texts) => texts.overview.title },
  },
  {
    path: '/fleet',
    page: lazy(() => import('./pages/fleet/fleet.js')),
    scopes: ['read'],
    menu: { group: 'look', icon: 'fleet', title: (texts) => texts.fleet.title },
  },
  {
    path: '/check',
    page: lazy(() => import('./pages/check/check.js')),
    scopes: ['check'],
    menu: { group: 'look', icon: 'question', title: (texts) => texts.check.title },
  },
  {
    path: '/allowlists',
    page: lazy(() => import('./pages/allowlists/allowlists.js')),
    scopes: ['read'],
    menu: { group: 'guards', icon: 'list', title: (texts) => texts.allowlists.title },
  },
  {
    path: '/allowlists/:id',
    page: lazy(() => import('./pages/allowlists/list.js')),
    scopes: ['read'],
  },
  {
    path: '/limits',
    page: lazy(() => import('./pages/limits/limits.js')),
    scopes: ['read', 'limits'],
    menu: { group: 'guards', icon: 'gauge', title: (texts) => texts.limits.title },
  },
  { path: '/limits/new', page: lazy(() => import('./pages/limits/create.js')), scopes: ['admin'] },
  {
    path: '/limits/resources/:resource',
    page: lazy(() => import('./pages/limits/resource.js')),
    scopes: ['read'],
  },
  {
    path: '/limits/resources/:resource/edit/:level',
    page: lazy(() => import('./pages/limits/edit.js')),
    scopes: ['admin'],
  },
  {
    path: '/limits/entities/:entity/:resource',
    page: lazy(() => import('./pages/limits/entity.js')),
    scopes: ['read', 'limits'],
  },
  {
    path: '/limits/entities/:entity/:resource/edit',
    page: lazy(() => import('./pages/limits/edit.js')),
    scopes: ['admin'],
  },
  {
    path: '/idempotency',
    page: lazy(() => import('./pages/guards/idempotency.js')),
    scopes: ['idempotency', 'admin'],
    menu: { group: 'guards', icon: 'repeat', title: (texts) => texts.guards.idempotency.title },
  },
  {
    path: '/locks',
    page: lazy(() => import('./pages/guards/locks.js')),
    scopes: ['locks', 'admin'],
    menu: { group: 'guards', icon: 'lock', title: (texts) => texts.guards.locks.title },
  },
  {
    path: '/cache',
    page: lazy(() => import('./pages/guards/cache.js')),
    scopes: ['cache', 'admin'],
    menu: { group: 'guards', icon: 'layers', title: (texts) => texts.guards.cache.title },
  },
  {
    path: '/codes',
    page: lazy(() => import('./pages/guards/codes.js')),
    scopes: ['admin'],
    menu: { group: 'guards', icon: 'hash', title: (texts) => texts.guards.codes.title },
  },
  {
    path: '/tokens',
    page: lazy(() => import('./pages/guards/tokens.js')),
    scopes: ['tokens:check', 'tokens:revoke', 'admin'],
    menu: { group: 'guards', icon: 'shield', title: (texts) => texts.guards.tokens.title },
  },
  {
    path: '/audit',
    page: lazy(() => import('./pages/audit/audit.js')),
    scopes: ['admin'],
    menu: { group: 'administer', icon: 'history', title: (texts) => texts.audit.title },
  },
  {
    path: '/settings',
    page: lazy(() => import('./pages/settings/settings.js')),
    menu: { group: 'administer', icon: 'settings', title: (texts) => texts.settings.title },
  },
]

/** The server closes what knows neither lists nor resources, or shows those of all, to people whose roles are limited to some. */
const CLOSED_WITH_LIMITS = new Set(['/fleet', '/idempotency', '/locks', '/cache', '/codes', '/tokens'])

export function visibleRoutes(info: SessionInfo): readonly Route[] {
  return ROUTES.filter(
    ({ path, scopes }) =>
      (scopes === undefined || scopes.some((scope) => allows(info, scope))) &&
      (info.limits === undefined || !CLOSED_WITH_LIMITS.has(path)),
  )
}
