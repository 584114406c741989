import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../parts/page.js'
import { useTexts } from '../texts/language.js'

export interface NotFoundProps {
  start: string
  /** One of these opens the page. Without: there is no such page. */
  scopes?: readonly string[] | undefined
}

export function NotFound({ start, scopes }: NotFoundProps) {
  const { common } = useTexts()
  return (
    <Page
      title={scopes === undefined ? common.notFoundTitle : common.noAccessTitle}
      lead={scopes === undefined ? common.notFoundText : common.noAccessText(scopes)}
    >
      <div>
        <Anchor component={Link} href={start}>
          {common.toStart}
        </Anchor>
      </div>
    </Page>
  )
}
