import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useTexts } from '../../texts/language.js'
import { resourcePath } from './model.js'

/** The way back: to all limits, and from an entity to its resource. */
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
