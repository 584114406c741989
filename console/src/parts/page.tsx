import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTexts } from '../texts/language.js'

/** The first page of a visit leaves the focus where the browser set it. */
let pagesShown = 0

export interface PageProps {
  title: string
  lead?: ReactNode
  /** Buttons that concern the whole page. */
  actions?: ReactNode
  children: ReactNode
}

/**
 * The frame of every page: sets the title of the tab, and takes the focus so that screen readers announce the page.
 */
export function Page({ title, lead, actions, children }: PageProps) {
  const texts = useTexts()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (pagesShown++ > 0) heading.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [])
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`
  }, [title, texts])
  return (
    <Stack gap="lg" className="page">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div className="page-heading">
          <Title order={1} size="h2" ref={heading} tabIndex={-1}>
            {title}
          </Title>
          {lead !== undefined && (
            <Text c="dimmed" size="sm" mt={2}>
              {lead}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
