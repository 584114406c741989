import { ActionIcon, Popover, Text } from '@mantine/core'
import type { SessionInfo } from '../session/store.js'
import { useTexts } from '../texts/language.js'
import { Icon } from './icons.js'
import { Tag } from './state.js'
import { Time } from './time.js'

interface WhoMenuProps {
  info: SessionInfo
  person: NonNullable<SessionInfo['person']>
}

/** Who is signed in, with which roles, what they reach, and for how long. */
export function WhoMenu({ info: { name, limits }, person }: WhoMenuProps) {
  const { common } = useTexts()
  const label = `${common.signedInAs} ${name}`
  return (
    <>
      <Text size="sm" c="dimmed" visibleFrom="sm" className="who-name">
        {name}
      </Text>
      <Popover position="bottom-end" width="min(22rem, calc(100vw - 2rem))" trapFocus>
        <Popover.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label}>
            <Icon name="user" />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown aria-label={label}>
          {/* The focus goes here when it opens, so that it is read. */}
          <dl className="facts" tabIndex={0} data-autofocus>
            <dt>{common.signedInAs}</dt>
            <dd>{name}</dd>
            <dt>{common.subject}</dt>
            <dd className="mono">{person.subject}</dd>
            <dt>{common.roles}</dt>
            <dd className="tags">
              {person.roles.map((role) => (
                <Tag key={role}>{role}</Tag>
              ))}
            </dd>
            {limits !== undefined && (
              <>
                <dt>{common.reaches}</dt>
                <dd className="mono">{[...limits.lists, ...limits.resources].join(', ')}</dd>
              </>
            )}
            <dt>{common.sessionUntil}</dt>
            <dd>
              <Time value={person.signedInUntil} />
            </dd>
          </dl>
        </Popover.Dropdown>
      </Popover>
    </>
  )
}
