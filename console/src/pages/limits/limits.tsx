import './limits.css'
import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { useQuery } from '../../data/use-query.js'
import { Icon } from '../../parts/icons.js'
import { Page } from '../../parts/page.js'
import { Folded } from '../../parts/panel.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { DeniedPanel } from './denied-panel.js'
import { EntitiesPanel } from './entities-panel.js'
import { FindPanel } from './find-panel.js'
import { ResourcesPanel } from './resources-panel.js'
import { readResources } from './store.js'
import { SubjectsPanel } from './subjects-panel.js'

export default function LimitsPage() {
  const { limits: texts } = useTexts()
  const { can, reachesAll } = useSignedIn()
  const resources = useQuery('resources', (signal) => readResources({ signal }), { enabled: can('read') })
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        can('admin') && (
          <Button component={Link} href="/limits/new" leftSection={<Icon name="plus" size={16} />}>
            {texts.create}
          </Button>
        )
      }
    >
      <FindPanel resources={[...(resources.data?.levels.keys() ?? [])]} />
      {can('read') && (
        <>
          <DeniedPanel shown={5} />
          <ResourcesPanel query={resources} />
          <EntitiesPanel resources={resources.data} />
        </>
      )}
      {(can('limits') || can('admin')) && reachesAll && (
        <Folded title={texts.inUse}>
          <SubjectsPanel />
        </Folded>
      )}
    </Page>
  )
}
