import { Box, Group, Text, Title } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'

export interface PanelProps {
  title?: string
  lead?: ReactNode
  actions?: ReactNode
  /** Without padding inside, for tables. */
  flush?: boolean
  /** `main`: what the page is about. `quiet`: beside it, without a frame. */
  weight?: 'main' | 'plain' | 'quiet'
  children: ReactNode
}

/** A part of a page, named by its heading. */
export function Panel({ title, lead, actions, flush = false, weight = 'plain', children }: PanelProps) {
  const id = useId()
  const named = title !== undefined
  return (
    <section className={`panel panel-${weight}`} {...(named ? { 'aria-labelledby': id } : {})}>
      {named && (
        <Group justify="space-between" align="center" gap="sm" className="panel-head">
          <div>
            <Title order={2} size={weight === 'main' ? 'h4' : 'h5'} id={id}>
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

export interface FoldedProps {
  title: string
  /** Beside the title, also while it is folded. */
  note?: ReactNode
  children: ReactNode
}

/** A part that few need: folded until it is opened, and rendered only then. */
export function Folded({ title, note, children }: FoldedProps) {
  const [opened, setOpened] = useState(false)
  return (
    <details className="folded" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <Title order={2} size="h5" component="h2" className="folded-title">
          {title}
        </Title>
        {note !== undefined && <span className="detail">{note}</span>}
      </summary>
      {opened && <div className="folded-body">{children}</div>}
    </details>
  )
}
