import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, type GetIdempotencyRecordAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Curl } from '../../parts/curl.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Asked, Facts, Found, Lookup, useAsked } from './lookup.js'
import { Records } from './records.js'
import { KINDS, situationOf } from './situation.js'

/** A claim may end, and a record may be completed, at any moment. */
const POLL_MS = 2000

export default function IdempotencyPage() {
  const { guards } = useTexts()
  const texts = guards.idempotency
  const [asked, ask] = useAsked(['operation', 'key'])
  const query = useQuery(asked?.id ?? '', (signal) => api.getIdempotencyRecord(keyOf(asked!), { signal }), {
    enabled: asked !== undefined,
    pollMs: POLL_MS,
  })
  // Counted so that the list below loads again too.
  const [changes, setChanges] = useState(0)
  const changed = (): void => {
    setChanges(changes + 1)
    query.reload()
  }
  const fields = [
    { name: 'operation', label: texts.operation, hint: texts.operationHint },
    { name: 'key', label: texts.key },
  ]
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Lookup fields={fields} problem={query.problem} asked={asked} onAsk={ask} />
      {asked !== undefined && (
        <Found query={query} nothing={texts.nothing} fields={fields}>
          {(record) => <Record record={record} asked={asked} onGone={changed} />}
        </Found>
      )}
      <Records changes={changes} onAsk={({ operation, key }) => ask({ operation, key })} />
    </Page>
  )
}

const keyOf = ({ values }: Asked) => ({ operation: values.operation!, key: values.key! })

interface RecordProps {
  record: GetIdempotencyRecordAnswer
  asked: Asked
  onGone(): void
}

function Record({ record, asked, onGone }: RecordProps) {
  const { guards } = useTexts()
  const texts = guards.idempotency
  const format = useFormat()
  const [deleting, setDeleting] = useState(false)
  const { operation, key } = keyOf(asked)
  const path = `/idempotency/${encodeURIComponent(operation)}/${encodeURIComponent(key)}`
  const situation = situationOf(record)
  return (
    <Panel
      title={`${record.operationType} ${record.idempotencyKey}`}
      lead={texts.situations[situation]}
      actions={<State kind={KINDS[situation]}>{texts.states[situation]}</State>}
    >
      <div className="record">
        <Facts
          items={[
            [texts.createdAt, <Time key="created" value={record.createdAt} />],
            [texts.updatedAt, <Time key="updated" value={record.updatedAt} ago />],
            [texts.expiresAt, <Time key="expires" value={record.expiresAt} />],
            [texts.attempt, format.number(record.attempt)],
            record.leaseUntil === undefined
              ? undefined
              : [texts.leaseUntil, <Time key="lease" value={record.leaseUntil} />],
            record.onLeaseExpired === undefined
              ? undefined
              : [texts.onLeaseExpired, texts.leaseExpired[record.onLeaseExpired]],
            record.requestHash === undefined
              ? undefined
              : [
                  texts.requestHash,
                  <code key="hash" className="mono">
                    {record.requestHash}
                  </code>,
                ],
            record.omittedBytes === undefined
              ? undefined
              : [
                  texts.omitted,
                  record.omittedBytes === 0
                    ? texts.omittedNotJson
                    : texts.omittedSize(format.bytes(record.omittedBytes)),
                ],
            record.error === undefined ? undefined : [texts.error, record.error],
          ]}
        />
        {record.responsePayload !== undefined && (
          <details className="payload">
            <summary>{texts.response}</summary>
            <pre>{record.responsePayload}</pre>
          </details>
        )}
        <Button variant="default" className="dangerous" onClick={() => setDeleting(true)}>
          {texts.forget}
        </Button>
        <Curl path={path} />
        <ConfirmDialog
          opened={deleting}
          onClose={() => setDeleting(false)}
          title={texts.forgetTitle}
          confirmLabel={texts.forget}
          typed={record.status === 'IN_PROGRESS' ? key : undefined}
          onConfirm={async (call) => {
            await api.deleteIdempotencyRecord({ operation, key }, call)
            announce(texts.forgotten)
            onGone()
          }}
        >
          {texts.forgetting[situation]}
        </ConfirmDialog>
      </div>
    </Panel>
  )
}
