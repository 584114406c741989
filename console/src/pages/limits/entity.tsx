import './limits.css'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Page } from '../../parts/page.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { AuditLink, Crumbs } from './crumbs.js'
import { EffectivePanel } from './effective-panel.js'
import { LevelPanel } from './level-panel.js'
import { LivePanel } from './live-panel.js'
import { useNames } from './params.js'
import { ParentPanel } from './parent-panel.js'
import { readLevels } from './store.js'
import { TryPanel } from './try-panel.js'
import { UsagePanel } from './usage-panel.js'

export default function EntityPage() {
  const { entity, resource } = useNames<'entity' | 'resource'>()
  return <Entity key={`${entity} ${resource}`} entity={entity} resource={resource} />
}

export interface SubjectProps {
  entity: string
  resource: string
}

/** The limits of an entity and a resource, what is left of them, and the results of its calls. */
function Entity({ entity, resource }: SubjectProps) {
  const { limits: texts } = useTexts()
  const { can, reachesAll } = useSignedIn()
  // Increments after a change, so that every part loads again.
  const [round, setRound] = useState(0)
  const changed = (): void => setRound(round + 1)
  const levels = useQuery(`levels ${round}`, (signal) => readLevels({ entity, resource }, { signal }), {
    enabled: can('read'),
    keepPrevious: true,
  })
  const subject = { entity, resource }
  return (
    <Page
      title={entity}
      lead={<Crumbs resource={resource} />}
      actions={
        <>
          <AuditLink resource={resource} />
          {can('limits') && <Reset {...subject} onReset={changed} />}
        </>
      }
    >
      {can('limits') ? (
        <LivePanel {...subject} round={round} />
      ) : (
        <div className="notice">{texts.needsLimits}</div>
      )}
      {can('read') && <EffectivePanel {...subject} round={round} />}
      {levels.data !== undefined && (
        <div className="level-panels">
          <LevelPanel address={{ level: 'entity', ...subject }} levels={levels.data} onChanged={changed} />
          {reachesAll && <ParentPanel entity={entity} resource={resource} onChanged={changed} />}
        </div>
      )}
      {can('limits') && (
        <>
          <UsagePanel {...subject} />
          <TryPanel {...subject} round={round} onTaken={changed} />
        </>
      )}
    </Page>
  )
}

function Reset({ entity, resource, onReset }: SubjectProps & { onReset(): void }) {
  const { limits: texts } = useTexts()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" className="dangerous" onClick={() => setAsking(true)}>
        {texts.reset}
      </Button>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={texts.resetTitle}
        confirmLabel={texts.reset}
        onConfirm={async (call) => {
          await api.resetLimits({ entity, resource }, call)
          announce(texts.resetDone)
          onReset()
        }}
      >
        {texts.resetText(entity, resource)}
      </ConfirmDialog>
    </>
  )
}
