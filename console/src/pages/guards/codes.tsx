import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, type GetCodeStatusAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { type Asked, Facts, Found, Lookup, useAsked } from './lookup.js'

export default function CodesPage() {
  const { guards } = useTexts()
  const texts = guards.codes
  const [asked, ask] = useAsked(['channel', 'address', 'purpose'])
  const query = useQuery(asked?.id ?? '', (signal) => api.getCodeStatus(codeOf(asked!), { signal }), {
    enabled: asked !== undefined,
  })
  const channels = [
    { value: 'email', label: texts.email },
    { value: 'phone', label: texts.phone },
  ]
  const fields = [
    { name: 'channel', label: texts.channel, options: channels },
    { name: 'address', label: texts.address, hint: texts.addressHint },
    { name: 'purpose', label: texts.purpose, hint: texts.purposeHint, optional: true },
  ]
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Lookup fields={fields} problem={query.problem} asked={asked} onAsk={ask} />
      {asked !== undefined && (
        <Found query={query} nothing={texts.nothing} fields={fields}>
          {(status) => <Status status={status} asked={asked} onChanged={query.reload} />}
        </Found>
      )}
    </Page>
  )
}

function codeOf({ values: { channel, address, purpose } }: Asked) {
  return {
    channel: channel === 'phone' ? ('phone' as const) : ('email' as const),
    body: { address: address!, ...(purpose === '' ? {} : { purpose: purpose! }) },
  }
}

interface StatusProps {
  status: GetCodeStatusAnswer
  asked: Asked
  onChanged(): void
}

function Status({ status, asked, onChanged }: StatusProps) {
  const { guards } = useTexts()
  const texts = guards.codes
  const format = useFormat()
  const [revoking, setRevoking] = useState(false)
  const { pending, expiresAt, failures, lockedUntil } = status
  const isLocked = lockedUntil !== undefined
  const kind = isLocked ? 'bad' : pending ? 'warning' : 'neutral'
  return (
    <Panel
      title={asked.values.address!}
      actions={<State kind={kind}>{isLocked ? texts.locked : pending ? texts.pending : texts.nothing}</State>}
    >
      <div className="record">
        <Facts
          items={[
            expiresAt === undefined ? undefined : [texts.expiresAt, <Time key="expires" value={expiresAt} />],
            [texts.failures, format.number(failures)],
            isLocked ? [texts.lockedUntil, <Time key="locked" value={lockedUntil} />] : undefined,
          ]}
        />
        <div className="notice">{texts.neverShown}</div>
        {(pending || isLocked || failures > 0) && (
          <Button variant="default" className="dangerous" onClick={() => setRevoking(true)}>
            {texts.revoke}
          </Button>
        )}
        <ConfirmDialog
          opened={revoking}
          onClose={() => setRevoking(false)}
          title={texts.revokeTitle}
          confirmLabel={texts.revoke}
          onConfirm={async (call) => {
            await api.revokeCode(codeOf(asked), call)
            announce(texts.revoked)
            onChanged()
          }}
        >
          {texts.revokeText}
        </ConfirmDialog>
      </div>
    </Panel>
  )
}
