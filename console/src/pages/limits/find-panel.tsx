import { Autocomplete, Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Icon } from '../../parts/icons.js'
import { Panel } from '../../parts/panel.js'
import { useTexts } from '../../texts/language.js'
import { entityPath } from './model.js'

/** Most entities have no configuration and are in no list, so they are opened by name. */
export function FindPanel({ resources }: { resources: readonly string[] }) {
  const { limits: texts, guards } = useTexts()
  const [, navigate] = useLocation()
  const [entity, setEntity] = useState('')
  const [resource, setResource] = useState('')
  const [tried, setTried] = useState(false)
  const missing = (value: string): string | undefined =>
    tried && value.trim() === '' ? guards.missing : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setTried(true)
    if (entity.trim() !== '' && resource.trim() !== '') navigate(entityPath(entity.trim(), resource.trim()))
  }
  return (
    <Panel title={texts.find} lead={texts.findLead}>
      <form className="limit-find" onSubmit={submit} noValidate>
        <TextInput
          label={texts.entity}
          value={entity}
          onChange={(event) => setEntity(event.currentTarget.value)}
          error={missing(entity)}
          autoComplete="off"
          spellCheck={false}
        />
        <Autocomplete
          label={texts.resource}
          data={[...resources]}
          limit={50}
          value={resource}
          onChange={setResource}
          error={missing(resource)}
          spellCheck={false}
        />
        <Button type="submit" leftSection={<Icon name="search" size={16} />}>
          {texts.open}
        </Button>
      </form>
    </Panel>
  )
}
