import { Link } from 'wouter'
import type { Allowlist } from '../../api/client.js'
import { CopyButton } from '../../parts/copy-button.js'
import { Folded } from '../../parts/panel.js'
import { Tag } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'

/** What a list is, in one line. */
export function ListLine({ list }: { list: Allowlist }) {
  const { allowlists } = useTexts()
  const texts = allowlists.facts
  const format = useFormat()
  const { description, owner, tags = [] } = list
  return (
    <>
      {description !== undefined && <p className="list-description">{description}</p>}
      <div className="list-line">
        <Tag>{allowlists.types[list.type]}</Tag>
        <span className="list-fact-id">
          <span className="mono">{list.id}</span>
          <CopyButton text={list.id} label={allowlists.id} />
        </span>
        {list.type === 'FIXA' && <strong>{texts.customerCount(format.number(list.customerCount))}</strong>}
        <span className="detail">
          {texts.changed} <Time value={list.updatedAt} ago />
        </span>
        {owner !== undefined && (
          <span>
            <span className="detail">{allowlists.edit.owner}</span> {owner}
          </span>
        )}
        {tags.length > 0 && <Tags tags={tags} />}
      </div>
    </>
  )
}

/** Each leads to the lists that have it. */
export function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span className="tags">
      {tags.map((tag) => (
        <Link key={tag} className="tag" href={`/allowlists?${new URLSearchParams({ tag })}`}>
          {tag}
        </Link>
      ))}
    </span>
  )
}

/** Facts that few need. */
export function ListDetails({ list }: { list: Allowlist }) {
  const { allowlists } = useTexts()
  const texts = allowlists.facts
  const format = useFormat()
  const isWave = list.type === 'ONDA'
  return (
    <Folded title={texts.title}>
      <dl className="list-facts list-facts-plain">
        <Fact name={texts.type}>{allowlists.typesLong[list.type]}</Fact>
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
    </Folded>
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
