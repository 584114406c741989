import { Button, Skeleton } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { CallOptions } from '../../../../src/client/operation.js'
import { api, type GetIndexAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Panel } from '../../parts/panel.js'
import { ProblemView } from '../../parts/problem.js'
import { State, type StateKind } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { Fact } from './facts.js'

const POLL_MS = 5_000
const POLL_BUILDING_MS = 1_000
const KINDS: Record<GetIndexAnswer['state'], StateKind> = {
  loaded: 'good',
  behind: 'warning',
  absent: 'neutral',
}

export interface IndexPanelProps {
  id: string
  changes: number
  onChanged(): void
}

/** The membership index of a list, as it is right now. */
export function IndexPanel({ id, changes, onChanged }: IndexPanelProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.index
  const { can } = useSignedIn()
  const [asking, setAsking] = useState(false)
  const [awaited, setAwaited] = useState<{ insteadOf: string | undefined }>()
  const [pollMs, setPollMs] = useState(POLL_MS)
  const query = useQuery(
    `${id} ${changes}`,
    async (signal) => {
      const index = await api.getIndex({ id }, { signal })
      setPollMs(index.building || awaited !== undefined ? POLL_BUILDING_MS : POLL_MS)
      return index
    },
    { pollMs, keepPrevious: true },
  )
  const rebuild = async (call: CallOptions): Promise<void> => {
    const { lastBuild } = await api.rebuildIndex({ id }, call)
    setAwaited({ insteadOf: lastBuild?.at })
    announce(texts.rebuilding)
    query.reload()
  }
  const isBuilt = awaited !== undefined && query.data?.lastBuild?.at !== awaited.insteadOf
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the requested build is there.
  useEffect(() => {
    if (!isBuilt) return
    setAwaited(undefined)
    onChanged()
  }, [isBuilt])
  const button = (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => setAsking(true)}
      disabled={query.data?.building ?? false}
    >
      {texts.rebuild}
    </Button>
  )
  return (
    <Panel title={texts.title} lead={texts.lead} weight="quiet" actions={can('admin') && button}>
      <ProblemView problem={query.problem} retry={query.reload} />
      {query.loading && <Skeleton height={72} radius="md" />}
      {query.data !== undefined && <IndexFacts index={query.data} />}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={texts.rebuildTitle}
        confirmLabel={texts.rebuild}
        onConfirm={rebuild}
      >
        {texts.rebuildText}
      </ConfirmDialog>
    </Panel>
  )
}

function IndexFacts({ index }: { index: GetIndexAnswer }) {
  const { allowlists } = useTexts()
  const texts = allowlists.index
  const format = useFormat()
  const { lastBuild, feedLagMs } = index
  return (
    <>
      <div className="tags index-state" role="status">
        <State kind={KINDS[index.state]}>{texts.states[index.state]}</State>
        {index.building && <State kind="warning">{texts.building}</State>}
      </div>
      <dl className="list-facts list-facts-plain">
        <Fact name={texts.customers}>{format.number(index.customers)}</Fact>
        <Fact name={texts.overlay}>{format.number(index.overlaySize)}</Fact>
        <Fact name={texts.pages}>{format.number(index.pages)}</Fact>
        <Fact name={texts.size}>{format.bytes(index.sizeBytes)}</Fact>
        <Fact name={texts.position}>{format.number(index.position)}</Fact>
        <Fact name={texts.lag}>
          {feedLagMs === undefined ? texts.lagNone : format.microseconds(feedLagMs * 1000)}
        </Fact>
        <Fact name={texts.lastBuild}>
          {lastBuild === undefined ? (
            texts.never
          ) : (
            <>
              <Time value={lastBuild.at} ago />
              <div className="detail">
                {texts.took(
                  format.microseconds(lastBuild.tookMs * 1000),
                  format.number(lastBuild.rebuiltPages),
                )}
              </div>
            </>
          )}
        </Fact>
      </dl>
    </>
  )
}
