import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { CheckAnswer, ExplainCheckAnswer } from '../../api/client.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { listPath } from '../allowlists/list-path.js'

export type Explained = ExplainCheckAnswer['results'][number]
export type Result = CheckAnswer['results'][number] | Explained

/** The answer of one list as a sentence: which list, and the reason. */
export function Sentence({ result }: { result: Result }) {
  const { check: texts } = useTexts()
  const { allowed, allowlistId, reason, degraded, asOf } = result
  return (
    <span className="sentence">
      <State kind={allowed ? 'good' : 'bad'}>{allowed ? texts.allowed : texts.denied}</State>{' '}
      <span>
        {reason === 'ALLOWLIST_NOT_FOUND' ? (
          texts.because.noList(allowlistId)
        ) : (
          <>
            {texts.by} <ListName id={allowlistId} name={'name' in result ? result.name : undefined} />:{' '}
            <Reason result={result} />
          </>
        )}
        {degraded === true && (
          <>
            {' '}
            <State kind="warning">
              {asOf === undefined ? (
                texts.degraded
              ) : (
                <>
                  {texts.degradedAsOf} <Time value={asOf} />
                </>
              )}
            </State>
          </>
        )}
      </span>
    </span>
  )
}

/** The name of a list, as a link where its page can be read. */
export function ListName({ id, name }: { id: string; name?: string | undefined }) {
  const { can } = useSignedIn()
  const shown = name === undefined || name === '' ? id : name
  if (!can('read')) return <strong>{shown}</strong>
  return (
    <Anchor component={Link} href={listPath(id)} fw={600} title={id} inherit>
      {shown}
    </Anchor>
  )
}

function Reason({ result }: { result: Result }): ReactNode {
  const { check: texts } = useTexts()
  const words = texts.because
  const format = useFormat()
  const percent = (share: number): string => format.percent(share, 2)
  const why = ('why' in result ? result.why : undefined) ?? {}
  const { decidedBy, place, share, reachesAt, neverReached, opensAt, pausedAt, expiredAt } = why
  const ends = (text: ReactNode, ...more: ReactNode[]): ReactNode => (
    <>
      {text}
      {more.filter(Boolean).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no name and never move.
        <span key={index}>; {part}</span>
      ))}
    </>
  )
  const paused = pausedAt !== undefined && (
    <>
      {words.paused} <Time value={pausedAt} ago />
    </>
  )
  switch (result.reason) {
    case 'MEMBER_EXPIRED':
      return expiredAt === undefined ? (
        words.expired
      ) : (
        <>
          {words.expiredAt} <Time value={expiredAt} />
        </>
      )
    case 'EXCLUDED':
      return decidedBy === undefined ? (
        words.excluded
      ) : (
        <>
          {words.excludedBy} <ListName id={decidedBy} />
        </>
      )
    case 'OUTSIDE_WINDOW':
      return ends(
        words.closed,
        paused,
        opensAt !== undefined && (
          <>
            {words.opens} <Time value={opensAt} />
          </>
        ),
      )
    case 'OUT_OF_WAVE':
    case 'IN_WAVE':
      if (decidedBy !== undefined && !result.allowed) {
        return (
          <>
            {words.notOnBase} <ListName id={decidedBy} />
          </>
        )
      }
      if (place === undefined || share === undefined) return texts.because[result.reason]
      return ends(
        words.place(percent(place), percent(share)),
        paused,
        pausedAt === undefined && neverReached === true && words.never,
        pausedAt === undefined && reachesAt !== undefined && (
          <>
            {words.reaches} <Time value={reachesAt} />
          </>
        ),
      )
    default:
      return texts.because[result.reason as 'MEMBER']
  }
}
