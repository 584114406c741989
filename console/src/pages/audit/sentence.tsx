import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { State } from '../../parts/state.js'
import { useTexts } from '../../texts/language.js'
import { listPath } from '../allowlists/list-path.js'
import { entityPath, resourcePath } from '../limits/model.js'
import type { Entry } from './audit.js'
import { useDifferences } from './differences.js'

export interface EntrySentenceProps {
  entry: Entry
  /** Names of lists by id. */
  names?: ReadonlyMap<string, string>
}

/** A change as a sentence: who did what to what, and the difference. */
export function EntrySentence({ entry, names }: EntrySentenceProps) {
  const { audit: texts } = useTexts()
  const { actor, action, target, outcome, id, reason } = entry
  const did: Record<string, string> = texts.did
  const outcomes: Record<string, string> = texts.outcomes
  const difference = useDifferences()(entry)
  return (
    <span className="entry-sentence" data-entry={id} title={action}>
      <strong>{actor.name}</strong> {did[action] ?? action}{' '}
      {target.customerId !== undefined && (
        <>
          <span className="mono">{target.customerId}</span> {
            texts.onList[action as 'allowlist.member.add']
          }{' '}
        </>
      )}
      <Target target={target} name={names?.get(target.id) ?? nameIn(entry)} />
      {difference !== '' && (action === 'entity.set' ? ` ${texts.toParent} ` : ', ') + difference}
      {outcome !== undefined && (
        <>
          {' '}
          <State kind="warning">{outcomes[outcome] ?? outcome}</State>
        </>
      )}
      {reason !== undefined && <span className="entry-reason">“{reason}”</span>}
    </span>
  )
}

const nameIn = ({ before, after }: Entry): string | undefined =>
  (after as { name?: string } | undefined)?.name ?? (before as { name?: string } | undefined)?.name

function Target({ target, name }: { target: Entry['target']; name: string | undefined }): ReactNode {
  const { kind, id, entity, operation } = target
  const link = (href: string, text: string): ReactNode => (
    <Anchor component={Link} href={href} inherit title={id}>
      {text}
    </Anchor>
  )
  if (kind === 'allowlist') return link(listPath(id), name ?? id)
  if (kind === 'limit') {
    return entity === undefined
      ? link(resourcePath(id), id)
      : link(entityPath(entity, id), `${entity} · ${id}`)
  }
  if (kind === 'lock') return link(`/locks#${new URLSearchParams({ name: id })}`, id)
  if (kind === 'idempotency' && operation !== undefined)
    return link(`/idempotency#${new URLSearchParams({ operation, key: id })}`, `${operation} ${id}`)
  return <span className="mono">{id}</span>
}
