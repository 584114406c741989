import { Box, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

export interface PanelProps {
  title?: string
  lead?: ReactNode
  actions?: ReactNode
  /** Without padding inside, for tables. */
  flush?: boolean
  children: ReactNode
}

/** A framed part of a page, named by its heading. */
export function Panel({ title, lead, actions, flush = false, children }: PanelProps) {
  const id = useId()
  const named = title !== undefined
  return (
    <section className="panel" {...(named ? { 'aria-labelledby': id } : {})}>
      {named && (
        <Group justify="space-between" align="center" gap="sm" className="panel-head">
          <div>
            <Title order={2} size="h5" id={id}>
              {title}
            </Title>
            {lead !== undefined && (
              <Text c="dimmed" size="sm">
                {lead}
              </Text>
            )}
          </div>
          {actions}
        </Group>
      )}
      <Box className={flush ? 'panel-flush' : 'panel-body'}>{children}</Box>
    </section>
  )
}
