import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Allowlist } from '../../../api/client.js'
import { Icon } from '../../../parts/icons.js'
import { State } from '../../../parts/state.js'
import { useSignedIn } from '../../../session/store.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { useEstimate } from './estimate.js'
import { PauseDialog } from './pause-dialog.js'
import { ResumeDialog } from './resume-dialog.js'
import { isShut, nextTurn, type Rule, shareNow } from './rule.js'
import { FORMS } from './strategies/index.js'
import { useWords, type Words } from './use-words.js'

export interface NowPanelProps {
  list: Allowlist
  rule: Rule
  now: number
  zone: string
  /** When the list was read, by the clock of the server. */
  readAt: number
  /** The last attempt to read it failed. */
  isStale: boolean
  onChanged(): void
}

/** The present state of the wave, its next change and the pause: always in view. */
export function NowPanel({ list, rule, now, zone, readAt, isStale, onChanged }: NowPanelProps) {
  const { waves } = useTexts()
  const texts = waves.now
  const { can } = useSignedIn()
  const words = useWords(zone)
  const [asking, setAsking] = useState<'pause' | 'resume'>()
  const format = useFormat()
  const { paused } = list
  const open = shareNow(rule, now) > 0
  const estimate = useEstimate(rule, now, words)
  const button =
    paused !== undefined ? (
      <Button
        variant="default"
        leftSection={<Icon name="play" size={16} />}
        onClick={() => setAsking('resume')}
      >
        {waves.resume.open}
      </Button>
    ) : isShut(rule, now) ? null : (
      <Button color="red" leftSection={<Icon name="pause" size={16} />} onClick={() => setAsking('pause')}>
        {waves.pause.open}
      </Button>
    )
  const close = (): void => setAsking(undefined)
  return (
    <section className="cockpit" aria-label={texts.title}>
      <dl className="cockpit-facts">
        <div className="cockpit-share">
          <dt>{texts.share}</dt>
          <dd>
            <span className="tile-value">{shareWords(rule, now, words, texts)}</span>
            <State kind={isStale ? 'warning' : open ? 'good' : paused ? 'bad' : 'neutral'}>
              {open ? texts.open : paused ? texts.paused : texts.closed}
            </State>
          </dd>
        </div>
        <div>
          <dt>{texts.next}</dt>
          <dd>
            {nextWords(rule, now, words, texts)}
            {paused !== undefined && (
              <div className="detail">{texts.pausedSince(words.moment(Date.parse(paused.at)))}</div>
            )}
            {paused === undefined && isShut(rule, now) && can('admin') && (
              <div className="detail">{texts.closedHint}</div>
            )}
          </dd>
        </div>
        <div className="cockpit-estimate">
          <dt>{texts.estimate}</dt>
          <dd>
            {estimate.count !== undefined && <strong>{estimate.count}</strong>}
            <div className="detail">{estimate.how}</div>
            {estimate.less !== undefined && <div className="detail">{estimate.less}</div>}
          </dd>
        </div>
      </dl>
      <div className="cockpit-do">
        {can('admin') && button}
        <span className="detail">{(isStale ? texts.asOfStale : texts.asOf)(format.clock(readAt))}</span>
      </div>
      <PauseDialog
        list={list}
        rule={rule}
        opened={asking === 'pause'}
        onClose={close}
        onChanged={onChanged}
      />
      <ResumeDialog
        list={list}
        rule={rule}
        now={now}
        words={words}
        opened={asking === 'resume'}
        onClose={close}
        onChanged={onChanged}
      />
    </section>
  )
}

type NowTexts = ReturnType<typeof useTexts>['waves']['now']

function shareWords(rule: Rule, now: number, words: Words, texts: NowTexts): string {
  const { isShare, named } = FORMS[rule.strategy]
  const share = shareNow(rule, now)
  if (isShare) return words.share(share)
  if (share === 0) return texts.nobody
  return named === undefined ? texts.everybody : texts.named(words.number(named(rule)))
}

function nextWords(rule: Rule, now: number, words: Words, texts: NowTexts): string {
  const next = nextTurn(rule, now)
  if (next === undefined) return texts.noNext
  const at = words.moment(next.at)
  if (next.share === 0) return texts.closes(at)
  return FORMS[rule.strategy].isShare ? texts.nextShare(words.share(next.share), at) : texts.opens(at)
}
