import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { strategyOf } from '../../../../../src/guards/allowlist/wave/strategies.js'
import type { Allowlist } from '../../../api/client.js'
import { serverNow } from '../../../api/server-clock.js'
import { unsavedOf, useUnsaved } from '../../../data/unsaved.js'
import { useSignedIn } from '../../../session/store.js'
import { useTexts } from '../../../texts/language.js'
import type { Entry } from '../../audit/audit.js'
import { draftOf, inZone, problemsOf, ruleOf, sameRule } from './draft.js'
import { NowPanel } from './now-panel.js'
import type { Rule } from './rule.js'
import { RulePanel } from './rule-panel.js'
import { SamplePanel } from './sample-panel.js'
import type { Draft } from './strategies/index.js'
import { WhoPanel } from './who-panel.js'
import { localZone } from './zoned.js'

const TICK_MS = 5_000

export interface WavePanelsProps {
  list: Allowlist
  rule: Rule
  /** When the list was read, by the clock of the server. */
  readAt: number
  /** The last attempt to read it failed. */
  isStale: boolean
  /** Recorded changes of the wave, newest first. */
  entries: readonly Entry[]
  /** What is shown beside the rule, below single customers. */
  beside: ReactNode
  onChanged(): void
}

/** The edit in progress: the draft, the saved rule that it started from, and the zone of its times. */
interface Edit {
  from: Rule
  draft: Draft
  zone: string
}

const editOf = (rule: Rule, zone: string): Edit => ({ from: rule, draft: draftOf(rule, zone), zone })

export const unsavedName = (id: string): string => `wave ${id}`

export function WavePanels(props: WavePanelsProps) {
  const { waves } = useTexts()
  if (strategyOf(props.rule) !== undefined) return <KnownWave {...props} />
  return <div className="notice">{waves.unknownStrategy(props.rule.strategy)}</div>
}

/** A wave: who passes now, its rule, and single customers. */
function KnownWave({ list, rule, readAt, isStale, entries, beside, onChanged }: WavePanelsProps) {
  const { waves, common } = useTexts()
  const { can } = useSignedIn()
  const now = useNow()
  const name = unsavedName(list.id)
  const [edit, setEdit] = useState<Edit>(() => unsavedOf<Edit>(name) ?? editOf(rule, localZone()))
  const { draft, zone } = edit
  const problems = useMemo(() => problemsOf(draft, waves.errors), [draft, waves])
  const next = useMemo(() => ruleOf(draft), [draft])
  const isWrong = Object.keys(problems).length > 0
  const isEdited = isWrong || !sameRule(edit.from, next)
  const isChanged = isWrong || !sameRule(rule, next)
  const isOutdated = !sameRule(edit.from, rule)
  // Follows a newly saved rule, unless that would lose unsaved input.
  if (isOutdated && (!isEdited || !isChanged)) setEdit(editOf(rule, zone))
  useUnsaved(name, isChanged ? edit : undefined, common.unsavedKept)
  return (
    <>
      <NowPanel
        list={list}
        rule={rule}
        now={now}
        zone={zone}
        readAt={readAt}
        isStale={isStale}
        onChanged={onChanged}
      />
      <div className="with-aside">
        <div className="with-aside-main">
          <RulePanel
            list={list}
            rule={rule}
            next={next}
            draft={draft}
            onDraft={(changed) => setEdit({ ...edit, draft: changed })}
            onDiscard={() => setEdit(editOf(rule, zone))}
            problems={problems}
            isChanged={isChanged}
            isOutdated={isOutdated && isChanged}
            entries={entries}
            now={now}
            zone={zone}
            onZone={(to) => setEdit({ ...edit, draft: inZone(draft, to), zone: to })}
            onChanged={onChanged}
          />
        </div>
        <div className="with-aside-side">
          {can('read') && (
            <WhoPanel id={list.id} rule={rule} next={isChanged ? next : undefined} now={now} zone={zone} />
          )}
          {can('read') && rule.base !== undefined && <SamplePanel key={rule.base} id={list.id} />}
          {beside}
        </div>
      </div>
    </>
  )
}

function useNow(): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
