import { Anchor, Button } from '@mantine/core'
import { Link } from 'wouter'
import { Icon } from '../../parts/icons.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { resourcePath } from './model.js'

/** Links back: to all limits, and from an entity to its resource. */
export function Crumbs({ resource }: { resource?: string }) {
  const { limits: texts } = useTexts()
  return (
    <>
      <Anchor component={Link} href="/limits">
        {texts.title}
      </Anchor>
      {resource !== undefined && (
        <>
          {' / '}
          <Anchor component={Link} href={resourcePath(resource)}>
            {resource}
          </Anchor>
        </>
      )}
    </>
  )
}

/** Link to the changes of the limits of a resource. */
export function AuditLink({ resource }: { resource: string }) {
  const { limits: texts } = useTexts()
  if (!useSignedIn().can('admin')) return null
  const href = `/audit?${new URLSearchParams({ target: `limit:${resource}` })}`
  return (
    <Button component={Link} href={href} variant="default" leftSection={<Icon name="history" size={16} />}>
      {texts.changes}
    </Button>
  )
}
