import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { Panel } from '../../parts/panel.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { DeleteDialog } from './delete-dialog.js'
import { type Address, configFields, editPath, type LevelConfig, type Levels, LIMIT_FIELDS } from './model.js'
import { fieldName, LevelTag, shownField } from './words.js'

export interface LevelPanelProps {
  address: Address
  levels: Levels
  onChanged(): void
}

/** The configuration of one level, without inherited values. */
export function LevelPanel({ address, levels, onChanged }: LevelPanelProps) {
  const { limits: texts } = useTexts()
  const { can } = useSignedIn()
  const [deleting, setDeleting] = useState(false)
  const { level } = address
  const config = levels[level]
  return (
    <Panel title={texts.levelSays[level]} lead={texts.levelLeads[level]} actions={<LevelTag level={level} />}>
      {config === undefined ? <p className="detail">{texts.saysNothing}</p> : <Own config={config} />}
      {can('admin') && (
        <Group gap="xs" mt="sm">
          <Button component={Link} href={editPath(address)} variant="default" size="xs">
            {config === undefined ? texts.setHere : texts.edit}
          </Button>
          {config !== undefined && (
            <Button variant="default" className="dangerous" size="xs" onClick={() => setDeleting(true)}>
              {texts.delete}
            </Button>
          )}
        </Group>
      )}
      <DeleteDialog
        address={address}
        levels={levels}
        opened={deleting}
        onClose={() => setDeleting(false)}
        onDeleted={onChanged}
      />
    </Panel>
  )
}

function Own({ config }: { config: LevelConfig }) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const others = configFields('system').filter((field) => config[field] !== undefined)
  return (
    <dl className="own">
      {Object.entries(config.limits ?? {}).map(([name, limit]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {LIMIT_FIELDS.filter((field) => limit[field] !== undefined).map((field) => (
              <span key={field} className="own-field">
                <span className="detail">{fieldName(texts, field)}</span>{' '}
                {shownField(field, limit[field], format)}
              </span>
            ))}
            {LIMIT_FIELDS.every((field) => limit[field] === undefined) && (
              <span className="detail">{texts.allInherited}</span>
            )}
          </dd>
        </div>
      ))}
      {others.map((field) => (
        <div key={field}>
          <dt>{texts.fields[field]}</dt>
          <dd>{texts.values[`${field}.${config[field]}` as keyof typeof texts.values]}</dd>
        </div>
      ))}
    </dl>
  )
}
