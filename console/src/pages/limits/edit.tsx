import './limits.css'
import { Skeleton } from '@mantine/core'
import { useLocation, useSearchParams } from 'wouter'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { ProblemView } from '../../parts/problem.js'
import { useTexts } from '../../texts/language.js'
import { Crumbs } from './crumbs.js'
import { EditForm } from './edit-form.js'
import { type Address, homePath } from './model.js'
import { useNames } from './params.js'
import { presetOf } from './presets.js'
import { readLevels } from './store.js'
import { LevelTag } from './words.js'

/** Edits the configuration of a level: of a resource at `/edit/:level`, of an entity at `/edit`. */
export default function EditPage() {
  const { resource, entity, level } = useNames<'resource' | 'entity' | 'level'>()
  const address: Address =
    entity === undefined
      ? { level: level === 'system' ? 'system' : 'resource', resource }
      : { level: 'entity', resource, entity }
  return <Edit key={JSON.stringify(address)} address={address} />
}

function Edit({ address }: { address: Address }) {
  const { limits: texts } = useTexts()
  const [, navigate] = useLocation()
  const [search] = useSearchParams()
  const { level, resource, entity } = address
  const query = useQuery(JSON.stringify(address), (signal) => readLevels(address, { signal }))
  const done = (): void => navigate(homePath(address))
  const title = texts.editTitle(entity === undefined ? resource : `${entity} · ${resource}`)
  return (
    <Page title={title} lead={<Crumbs resource={resource} />} actions={<LevelTag level={level} />}>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={260} radius="md" />}
      {query.data !== undefined && (
        <EditForm
          address={address}
          levels={query.data}
          preset={presetOf(search.get('preset'))}
          onDone={done}
        />
      )}
    </Page>
  )
}
