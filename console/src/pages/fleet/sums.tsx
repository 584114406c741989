import type { ReactNode } from 'react'
import type { FleetView } from '../../api/client.js'
import { State } from '../../parts/state.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { lagText } from './processes.js'

/** The sums over all processes, readable from a distance. */
export function FleetTiles({ fleet: { sums } }: { fleet: FleetView }) {
  const { fleet: texts } = useTexts()
  const format = useFormat()
  const lastMinute = (value: number, kind: 'bad' | 'warning') =>
    value === 0 ? texts.lastMinute : <State kind={kind}>{texts.lastMinute}</State>
  return (
    <dl className="tiles">
      <Tile label={texts.processes} value={format.number(sums.processes)} />
      <Tile label={texts.checks} value={texts.perSecond(format.rate(sums.checksPerSecond))} />
      <Tile
        label={texts.errors}
        value={format.number(sums.errorsLastMinute)}
        note={lastMinute(sums.errorsLastMinute, 'bad')}
      />
      <Tile
        label={texts.degraded}
        value={format.number(sums.degradedLastMinute)}
        note={lastMinute(sums.degradedLastMinute, 'warning')}
      />
      <Tile
        label={texts.behind}
        value={lagText(format, sums.feedLagMs)}
        note={
          sums.processes === 0 ? undefined : sums.staleLists === 0 ? (
            <State kind="good">{texts.allFresh}</State>
          ) : (
            <State kind="warning">{texts.stale(format.number(sums.staleLists))}</State>
          )
        }
      />
    </dl>
  )
}

function Tile({ label, value, note }: { label: string; value: string; note?: ReactNode }) {
  return (
    <div className="tile">
      <dt>{label}</dt>
      <dd className="tile-value">{value}</dd>
      {note !== undefined && <dd className="tile-note">{note}</dd>}
    </div>
  )
}
