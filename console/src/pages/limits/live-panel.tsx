import { Skeleton } from '@mantine/core'
import { api, type GetLimitsAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { SubjectProps } from './entity.js'
import { FoldedCurl } from './folded-curl.js'
import { timeLeft } from './words.js'

type Status = GetLimitsAnswer['limits'][string]

const POLL_MS = 2000

export const limitsPath = ({ entity, resource }: SubjectProps): string =>
  `/limits/${encodeURIComponent(entity)}/${encodeURIComponent(resource)}`

/** What is left, refreshed every two seconds. Not a live region: screen readers read it on demand. */
export function LivePanel({ entity, resource, round }: SubjectProps & { round: number }) {
  const { limits: texts } = useTexts()
  const query = useQuery(`status ${round}`, (signal) => api.getLimits({ entity, resource }, { signal }), {
    pollMs: POLL_MS,
    keepPrevious: true,
  })
  const isNothing = query.problem?.status === 404
  return (
    <Panel title={texts.live} lead={texts.liveLead}>
      {query.loading && <Skeleton height={48} radius="md" />}
      {isNothing && <div className="notice">{texts.nothingConfigured}</div>}
      {!isNothing && <ProblemView problem={query.problem} retry={query.reload} />}
      {!isNothing && query.data !== undefined && (
        <>
          <ul className="meters">
            {Object.entries(query.data.limits).map(([name, status]) => (
              <Meter key={name} name={name} status={status} />
            ))}
          </ul>
          <FoldedCurl path={limitsPath({ entity, resource })} />
        </>
      )}
    </Panel>
  )
}

export function Meter({ name, status }: { name: string; status: Status }) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const { limit, remaining, resetMs } = status
  const share = Math.min(1, Math.max(0, remaining / limit))
  const left = texts.left(format.number(remaining), format.number(limit))
  const tone = share === 0 ? 'bad' : share < 0.2 ? 'warning' : 'good'
  return (
    <li className="meter-row">
      <span className="meter-name">{name}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a meter element each in its own way. */}
      <span
        className={`meter meter-${tone}`}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.round(share * limit)}
        aria-valuetext={left}
      >
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <span className="meter-figures">
        <strong className="figure">{left}</strong>
        <span className="detail">{resetMs === 0 ? texts.full : texts.fullIn(timeLeft(resetMs, format))}</span>
      </span>
    </li>
  )
}
