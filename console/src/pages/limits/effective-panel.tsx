import { Skeleton, Table } from '@mantine/core'
import { api, type ResolveLimitsAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { useFormat, useTexts } from '../../texts/language.js'
import type { SubjectProps } from './entity.js'
import { FoldedCurl } from './folded-curl.js'
import { type ConfigField, configFields, LIMIT_FIELDS, type LimitField } from './model.js'
import { fieldName, LevelTag, LimitList, shownField } from './words.js'

/** The effective limits, with the level that each field comes from. */
export function EffectivePanel({ entity, resource, round }: SubjectProps & { round: number }) {
  const { limits: texts } = useTexts()
  const query = useQuery(
    `resolved ${round}`,
    (signal) => api.resolveLimits({ entity, resource }, { signal }),
    { keepPrevious: true },
  )
  const isNothing = query.problem?.status === 404
  const path = `/config/resolve?${new URLSearchParams({ entity, resource })}`
  return (
    <Panel title={texts.effective} lead={texts.effectiveLead}>
      {query.loading && <Skeleton height={140} radius="md" />}
      {isNothing && <div className="notice">{texts.nothingConfigured}</div>}
      {!isNothing && <ProblemView problem={query.problem} retry={query.reload} />}
      {!isNothing && query.data !== undefined && (
        <>
          <Means resolved={query.data} />
          <Fields resolved={query.data} />
          <Others resolved={query.data} />
          <FoldedCurl path={path} />
        </>
      )}
    </Panel>
  )
}

function Means({ resolved }: { resolved: ResolveLimitsAnswer }) {
  return <LimitList items={Object.entries(resolved.limits).map(([name, limit]) => ({ name, limit }))} />
}

function Fields({ resolved }: { resolved: ResolveLimitsAnswer }) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
    <section className="table-scroll effective" aria-label={texts.effectiveLead} tabIndex={0}>
      <Table verticalSpacing={6} horizontalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.limit}</Table.Th>
            {LIMIT_FIELDS.map((field) => (
              <Table.Th key={field}>{fieldName(texts, field)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(resolved.limits).map(([name, limit]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              {LIMIT_FIELDS.map((field) => (
                <Table.Td key={field}>
                  <span className="valued">
                    <span className="figure">{shownField(field, limit[field], format)}</span>
                    <LevelTag level={resolved.levels.limits?.[name]?.[field] ?? 'defaults'} />
                    <CappedTag resolved={resolved} name={name} field={field} />
                  </span>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

/** A number that a lower capacity caps, with the stated number. */
function CappedTag({
  resolved,
  name,
  field,
}: {
  resolved: ResolveLimitsAnswer
  name: string
  field: LimitField
}) {
  const { limits: texts } = useTexts()
  const format = useFormat()
  const capped = field === 'burst' || field === 'refillAmount' ? resolved.capped?.[name]?.[field] : undefined
  if (capped?.stated === undefined) return null
  return <span className="level">{texts.cappedFrom(shownField(field, capped.stated, format))}</span>
}

function Others({ resolved }: { resolved: ResolveLimitsAnswer }) {
  const { limits: texts } = useTexts()
  const value = (field: ConfigField): string =>
    texts.values[`${field}.${resolved[field]}` as keyof typeof texts.values]
  return (
    <dl className="effective-others">
      {configFields('system').map((field) => (
        <div key={field}>
          <dt>{texts.fields[field]}</dt>
          <dd>
            {value(field)} <LevelTag level={resolved.levels[field] ?? 'defaults'} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
