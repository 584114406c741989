import type { ReactNode } from 'react'
import { State } from '../../parts/state.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { Figures } from './series.js'

/** The most important figures, readable from a distance. */
export function Tiles({ figures, range }: { figures: Figures; range: string }) {
  const { overview: texts } = useTexts()
  const format = useFormat()
  const { lately, worst, total } = figures
  const perSecond = (value: number): string => format.number(value, value < 100 ? 1 : 0)
  const rate = (name: string): string => perSecond(lately(name) ?? 0)
  const ms = (value: number | undefined): string =>
    value === undefined ? texts.nothing : format.microseconds(value * 1000)
  const share = (value: number | undefined): string =>
    value === undefined ? texts.nothing : format.percent(value)
  const [allowed = 0, denied = 0] = [lately('allowedPerSecond'), lately('deniedPerSecond')]
  const degraded = Math.round(total('degradedPerSecond'))
  return (
    <dl className="tiles">
      <Tile
        label={texts.checks}
        value={texts.perSecond(rate('checksPerSecond'))}
        note={texts.checksNote(rate('requestsPerSecond'))}
      />
      <Tile
        label={texts.allowedShare}
        value={share(allowed + denied === 0 ? undefined : allowed / (allowed + denied))}
        note={texts.allowedNote(rate('allowedPerSecond'), rate('deniedPerSecond'))}
      />
      <Tile label={texts.fromMemory} value={share(lately('fromMemoryShare'))} note={texts.fromMemoryNote} />
      <Tile
        label={texts.latency}
        value={ms(worst('checkP99Ms'))}
        note={texts.latencyNote(ms(lately('checkP50Ms')), ms(lately('checkP95Ms')))}
      />
      <Tile
        label={texts.degraded}
        value={format.number(degraded)}
        note={
          degraded === 0 ? (
            <State kind="good">{texts.degradedNone(range)}</State>
          ) : (
            <State kind="warning">{texts.degradedSome(range)}</State>
          )
        }
      />
    </dl>
  )
}

function Tile({ label, value, note }: { label: string; value: string; note: ReactNode }) {
  return (
    <div className="tile">
      <dt>{label}</dt>
      <dd className="tile-value">{value}</dd>
      <dd className="tile-note">{note}</dd>
    </div>
  )
}
