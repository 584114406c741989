import { Anchor, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type Allowlist, api, type HealthAnswer } from '../../api/client.js'
import { serverNow } from '../../api/server-clock.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { State, type StateKind } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { listPath } from '../allowlists/list-path.js'
import { nextTurn } from '../allowlists/wave/rule.js'
import { openCircuits } from './circuits.js'

const POLL_MS = 10_000
const DAY_MS = 86_400_000
/** Waves due soonest that are read: more than one looks through. */
const MAX_DUE = 50
/** Lists that changed last, whose imports are looked at: there is no list of all imports. */
const MAX_IMPORTS = 8
const IMPORTS_POLL_MS = 20_000
/** The rest of a kind is counted. */
const SHOWN = 5

export interface AttentionProps {
  health: HealthAnswer | undefined
  /** Answers without the store, in the time that the charts show. */
  degraded: number
}

interface Item {
  key: string
  kind: StateKind
  label: string
  text: ReactNode
}

/** What needs a person now, the worst first. */
export function Attention(props: AttentionProps) {
  const { overview: texts } = useTexts()
  const waves = useQuery('waves', readWaves, { pollMs: POLL_MS })
  const { reachesAll } = useSignedIn()
  const circuits = useQuery('circuits', openCircuits, { pollMs: POLL_MS, enabled: reachesAll })
  const words = texts.attention
  const items = [
    ...useEngineItems(props.health),
    ...(circuits.data ?? []).map(
      (circuit): Item => ({
        key: `circuit ${circuit}`,
        kind: 'bad',
        label: words.circuit,
        text: words.circuitText(circuit),
      }),
    ),
    ...useDegradedItems(props.degraded),
    ...useImportItems(),
    ...useWaveItems(waves.data),
  ]
  return (
    <Panel title={words.title} weight="main">
      {waves.loading && props.health === undefined ? (
        <Skeleton height={48} radius="md" />
      ) : items.length === 0 ? (
        <p className="attention-none">
          <State kind="good">{words.nothing}</State> {words.nothingText}
        </p>
      ) : (
        <ul className="attention">
          {items.map(({ key, kind, label, text }) => (
            <li key={key}>
              <State kind={kind}>{label}</State> <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function useEngineItems(health: HealthAnswer | undefined): Item[] {
  const { overview: texts } = useTexts()
  return (health?.engines ?? []).flatMap(({ name, status, error, warnings }) => [
    ...(status === 'healthy'
      ? []
      : [{ key: `engine ${name}`, kind: 'bad' as const, label: texts.unhealthy, text: said(name, error) }]),
    ...(Array.isArray(warnings) ? warnings : []).map((warning) => ({
      key: `warning ${name} ${warning}`,
      kind: 'warning' as const,
      label: texts.attention.warning,
      text: said(name, warning),
    })),
  ])
}

const said = (name: string, fact: unknown): string => (typeof fact === 'string' ? `${name}: ${fact}` : name)

function useDegradedItems(degraded: number): Item[] {
  const { overview: texts } = useTexts()
  const format = useFormat()
  if (degraded === 0) return []
  const text = texts.attention.degradedText(format.number(degraded))
  return [{ key: 'degraded', kind: 'warning', label: texts.degraded, text }]
}

function useImportItems(): Item[] {
  const { overview: texts } = useTexts()
  const words = texts.attention
  const format = useFormat()
  const { data } = useQuery(
    'running imports',
    async (signal) => {
      const asked = { type: 'FIXA', sort: 'updatedAt', order: 'desc', limit: MAX_IMPORTS } as const
      const { items } = await api.listAllowlists(asked, { signal })
      const read = await Promise.all(items.map(({ id }) => api.listImports({ id, limit: 5 }, { signal })))
      return items.flatMap((list, index) =>
        read[index]!.items.filter(({ state }) => state === 'running').map((status) => ({ list, status })),
      )
    },
    { pollMs: IMPORTS_POLL_MS },
  )
  return (data ?? []).map(({ list, status }) => ({
    key: `import ${status.importId}`,
    kind: 'neutral',
    label: words.importing,
    text: (
      <>
        <Anchor component={Link} href={listPath(list.id)} inherit fw={600}>
          {list.name}
        </Anchor>
        , {words.rows(format.number(status.rowsAcknowledged))}
      </>
    ),
  }))
}

interface Waves {
  paused: readonly Allowlist[]
  pausedTotal: number
  /** In the order in which they are due. */
  due: readonly { wave: Allowlist; next: { at: number; share: number } }[]
  /** There may be more than those that were read. */
  isMoreDue: boolean
}

const NO_WAVES: Waves = { paused: [], pausedTotal: 0, due: [], isMoreDue: false }

/** The server chooses: among thousands of waves, the paused ones may be those that nobody has changed for months. */
async function readWaves(signal: AbortSignal): Promise<Waves> {
  const [paused, next] = await Promise.all([
    api.listAllowlists({ state: 'paused', sort: 'updatedAt', order: 'desc', limit: SHOWN }, { signal }),
    api.listAllowlists({ type: 'ONDA', sort: 'nextStepAt', limit: MAX_DUE }, { signal }),
  ])
  const now = serverNow()
  const due = next.items.flatMap((wave) => {
    const turn = wave.paused === undefined && wave.config !== undefined && nextTurn(wave.config, now)
    return turn && turn.at - now < DAY_MS ? [{ wave, next: turn }] : []
  })
  const isMoreDue = due.length === MAX_DUE && next.nextCursor !== undefined
  return { paused: paused.items, pausedTotal: paused.total ?? paused.items.length, due, isMoreDue }
}

function useWaveItems(waves: Waves | undefined): Item[] {
  const { overview: texts } = useTexts()
  const words = texts.attention
  const format = useFormat()
  const { paused, pausedTotal, due, isMoreDue } = waves ?? NO_WAVES
  const name = ({ id, name: given }: Allowlist) => (
    <Anchor component={Link} href={listPath(id)} inherit fw={600}>
      {given}
    </Anchor>
  )
  return [
    ...paused.map(
      (wave): Item => ({
        key: `paused ${wave.id}`,
        kind: 'bad',
        label: words.paused,
        text: (
          <>
            {name(wave)} <Time value={wave.paused!.at} ago />
          </>
        ),
      }),
    ),
    ...rest('paused', 'bad', words.paused, pausedTotal - paused.length),
    ...due.slice(0, SHOWN).map(
      ({ wave, next }): Item => ({
        key: `due ${wave.id}`,
        kind: 'neutral',
        label: words.due,
        text: (
          <>
            {name(wave)} → {format.percent(next.share, 4)}, <Time value={next.at} ago />
          </>
        ),
      }),
    ),
    ...rest('due', 'neutral', words.due, due.length - SHOWN, isMoreDue ? '+' : ''),
  ]

  function rest(key: string, kind: StateKind, label: string, count: number, or = ''): Item[] {
    return count > 0 ? [{ key, kind, label, text: words.more(`${format.number(count)}${or}`) }] : []
  }
}
