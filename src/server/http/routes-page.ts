import type { OperationScope } from '../../wire/scope.js'
export interface RouteEntry {
  method: string
  path: string
  scope: OperationScope
  /** Keys with `admin` may call it too. */
  orAdmin: boolean
  summary: string | undefined
}

/** The page `docs/reference/routes.md`, from the routes themselves. */
export function renderRouteTable(routes: readonly RouteEntry[]): string {
  const rows = routes
    .filter(
      ({ method, path }) => method !== 'HEAD' && !path.startsWith('/docs/') && !path.startsWith('/console/'),
    )
    .sort((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
    .map(({ method, path, scope, orAdmin, summary }) => {
      const shownPath = path.replace(/:(\w+)/g, '{$1}')
      return `| \`${method} ${shownPath}\` | ${shownScope(scope)}${orAdmin ? ' or `admin`' : ''} | ${summary ?? ''} |`
    })
  return `${HEAD}\n${rows.join('\n')}\n`
}

const shownScope = (scope: OperationScope): string =>
  scope === 'open' ? 'open' : scope === 'any' ? 'any key' : `\`${scope}\``

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const HEAD = `# Routes and scopes

A call presents an API key as \`Authorization: Bearer KEY\`, and the key must have the scope of the route. \`admin\`
may also read and check, and call the routes that say so; no other scope implies another. Routes marked "open" need no key.

A server without any key answers only programs on its own machine, except at \`/live\` and \`/ready\`.

This page is generated from the routes; a test keeps it equal to them.

| route | scope | |
|---|---|---|`
