import { useEffect, useState } from 'react'
import type { Allowlist } from '../../../api/client.js'
import { useSignedIn } from '../../../session/store.js'
import { useTexts } from '../../../texts/language.js'
import { type Draft, draftOf, inZone, problemsOf, ruleOf, sameRule } from './draft.js'
import { NowPanel } from './now-panel.js'
import type { Rule } from './rule.js'
import { RulePanel } from './rule-panel.js'
import { WhoPanel } from './who-panel.js'
import { localZone } from './zoned.js'

const TICK_MS = 15_000

export interface WavePanelsProps {
  list: Allowlist
  rule: Rule
  onChanged(): void
}

/** A wave: what it lets in now, its rule, and who is in. */
export function WavePanels(props: WavePanelsProps) {
  const [zone, setZone] = useState(localZone)
  // Another rule, here or from elsewhere, is edited anew; another name is no reason to lose what was typed.
  return <Panels key={JSON.stringify(props.rule)} {...props} zone={zone} onZone={setZone} />
}

interface PanelsProps extends WavePanelsProps {
  zone: string
  onZone(zone: string): void
}

function Panels({ list, rule, onChanged, zone, onZone }: PanelsProps) {
  const { waves } = useTexts()
  const { can } = useSignedIn()
  const now = useNow()
  const [draft, setDraft] = useState<Draft>(() => draftOf(rule, zone))
  const problems = problemsOf(draft, waves.errors)
  const next = ruleOf(draft)
  const isChanged = !sameRule(rule, next) || Object.keys(problems).length > 0
  const changeZone = (to: string): void => {
    setDraft(inZone(draft, to))
    onZone(to)
  }
  return (
    <>
      <NowPanel list={list} rule={rule} now={now} zone={zone} onChanged={onChanged} />
      <RulePanel
        list={list}
        rule={rule}
        next={next}
        draft={draft}
        onDraft={setDraft}
        problems={problems}
        isChanged={isChanged}
        now={now}
        zone={zone}
        onZone={changeZone}
        onChanged={onChanged}
      />
      {can('read') && (
        <WhoPanel id={list.id} rule={rule} next={isChanged ? next : undefined} now={now} zone={zone} />
      )}
    </>
  )
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
