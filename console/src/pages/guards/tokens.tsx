import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, type GetRevokedSubjectAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { Facts, Found, Lookup, useAsked } from './lookup.js'
import { type Revocable, RevokeDialog } from './revoke-dialog.js'

/** For a token: only whether it is revoked. For a subject also the times. */
type Answer = { revoked: boolean } & Partial<GetRevokedSubjectAnswer>

export default function TokensPage() {
  const { guards } = useTexts()
  const texts = guards.tokens
  const { can } = useSignedIn()
  const mayCheck = can('tokens:check') || can('admin')
  const [asked, ask] = useAsked(['kind', 'id'])
  const target: Revocable | undefined = asked && {
    kind: asked.values.kind === 'subject' ? 'subject' : 'token',
    id: asked.values.id!,
  }
  const query = useQuery<Answer>(
    asked?.id ?? '',
    (signal) =>
      target!.kind === 'token'
        ? api.checkToken({ jti: target!.id }, { signal })
        : api.getRevokedSubject({ subject: target!.id }, { signal }),
    { enabled: asked !== undefined && mayCheck },
  )
  const kinds = [
    { value: 'token', label: texts.token },
    { value: 'subject', label: texts.subject },
  ]
  const fields = [
    { name: 'kind', label: texts.kind, options: kinds },
    { name: 'id', label: texts.id, hint: texts.idHint },
  ]
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Lookup fields={fields} problem={query.problem} asked={asked} onAsk={ask} />
      {target !== undefined && (
        <Found query={query} nothing={texts.passes} fields={fields}>
          {(answer) => <Revoked answer={answer} target={target} onChanged={query.reload} />}
        </Found>
      )}
      {target !== undefined && !mayCheck && (
        <Revocation target={target} onChanged={() => ask(asked!.values)} />
      )}
    </Page>
  )
}

interface TargetProps {
  target: Revocable
  onChanged(): void
}

function Revoked({ answer, target, onChanged }: TargetProps & { answer: Answer }) {
  const { guards } = useTexts()
  const texts = guards.tokens
  const { notBefore, expiresAt, revoked } = answer
  return (
    <Panel
      title={target.id}
      actions={<State kind={revoked ? 'bad' : 'good'}>{revoked ? texts.isRevoked : texts.passes}</State>}
    >
      <div className="record">
        <Facts
          items={[
            notBefore === undefined ? undefined : [texts.notBefore, <Time key="before" value={notBefore} />],
            expiresAt === undefined ? undefined : [texts.expiresAt, <Time key="expires" value={expiresAt} />],
          ]}
        />
        <Revocation target={target} onChanged={onChanged} />
      </div>
    </Panel>
  )
}

function Revocation({ target, onChanged }: TargetProps) {
  const { guards } = useTexts()
  const { can } = useSignedIn()
  const [revoking, setRevoking] = useState(false)
  if (!can('tokens:revoke') && !can('admin')) return null
  return (
    <>
      <Button variant="default" className="dangerous" onClick={() => setRevoking(true)}>
        {guards.tokens.revoke}
      </Button>
      <RevokeDialog
        target={target}
        opened={revoking}
        onClose={() => setRevoking(false)}
        onRevoked={onChanged}
      />
    </>
  )
}
