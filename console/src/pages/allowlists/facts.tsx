import type { Allowlist } from '../../api/client.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'

/** The basic facts of a list. */
export function ListFacts({ list }: { list: Allowlist }) {
  const { allowlists } = useTexts()
  const texts = allowlists.facts
  const format = useFormat()
  const isWave = list.type === 'ONDA'
  return (
    <dl className="panel list-facts">
      <div>
        <dt>{allowlists.id}</dt>
        <dd className="list-fact-id">
          <span className="mono">{list.id}</span>
          <CopyButton text={list.id} label={allowlists.id} />
        </dd>
      </div>
      <Fact name={texts.type}>{allowlists.typesLong[list.type]}</Fact>
      {!isWave && <Fact name={texts.customers}>{format.number(list.customerCount)}</Fact>}
      {!isWave && <Fact name={texts.precision}>{allowlists.create.precisions[list.precision]}</Fact>}
      <Fact name={texts.version}>{format.number(list.version)}</Fact>
      {!isWave && <Fact name={texts.shards}>{format.number(list.shardCount)}</Fact>}
      <Fact name={texts.createdAt}>
        <Time value={list.createdAt} />
      </Fact>
      <Fact name={texts.updatedAt}>
        <Time value={list.updatedAt} />
      </Fact>
    </dl>
  )
}

export function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="figure-text">{children}</dd>
    </div>
  )
}
