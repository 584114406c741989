import './limits.css'
import { Skeleton } from '@mantine/core'
import { useQuery } from '../../data/use-query.js'
import { Curl } from '../../parts/curl.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { AuditLink, Crumbs } from './crumbs.js'
import { DeniedPanel } from './denied-panel.js'
import { EntitiesPanel } from './entities-panel.js'
import { LevelPanel } from './level-panel.js'
import { apiPath, effectiveLimits, levelsFrom } from './model.js'
import { useNames } from './params.js'
import { readLevels } from './store.js'
import { LimitList } from './words.js'

/** The configuration of a resource on its levels, and the entities with their own configuration. */
export default function ResourcePage() {
  const { limits: texts } = useTexts()
  const { resource } = useNames<'resource'>()
  const query = useQuery(`levels ${resource}`, (signal) => readLevels({ resource }, { signal }))
  const levels = query.data
  const together = levels === undefined ? [] : effectiveLimits(levels, levelsFrom('resource'))
  return (
    <Page title={resource} lead={<Crumbs />} actions={<AuditLink resource={resource} />}>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={140} radius="md" />}
      {levels !== undefined && (
        <>
          <Panel title={texts.appliesToAll} lead={texts.appliesToAllLead}>
            {together.length === 0 ? (
              <div className="notice">{texts.nothingConfigured}</div>
            ) : (
              <LimitList items={together} />
            )}
          </Panel>
          <div className="level-panels">
            <LevelPanel address={{ level: 'resource', resource }} levels={levels} onChanged={query.reload} />
            <LevelPanel address={{ level: 'system', resource }} levels={levels} onChanged={query.reload} />
          </div>
          <EntitiesPanel
            resource={resource}
            resources={{ levels: new Map([[resource, levels]]), complete: true }}
          />
          <DeniedPanel resource={resource} />
          <Curl path={apiPath({ level: levels.resource === undefined ? 'system' : 'resource', resource })} />
        </>
      )}
    </Page>
  )
}
