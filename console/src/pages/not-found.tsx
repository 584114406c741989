import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '../parts/page.js'
import { useTexts } from '../texts/language.js'

export function NotFound({ start }: { start: string }) {
  const { common } = useTexts()
  return (
    <Page title={common.notFoundTitle} lead={common.notFoundText}>
      <div>
        <Anchor component={Link} href={start}>
          {common.toStart}
        </Anchor>
      </div>
    </Page>
  )
}
