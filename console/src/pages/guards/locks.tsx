import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, type GetLockAnswer } from '../../api/client.js'
import { useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Curl } from '../../parts/curl.js'
import { Page } from '../../parts/page.js'
import { Panel } from '../../parts/panel.js'
import { State } from '../../parts/state.js'
import { Time } from '../../parts/time.js'
import { useSignedIn } from '../../session/store.js'
import { useTexts } from '../../texts/language.js'
import { HeldLocks } from './held-locks.js'
import { Facts, Found, Lookup, useAsked } from './lookup.js'

/** A lock may be released or acquired at any moment. */
const POLL_MS = 2000

export default function LocksPage() {
  const { guards } = useTexts()
  const texts = guards.locks
  const [asked, ask] = useAsked(['name'])
  const query = useQuery(
    asked?.id ?? '',
    (signal) => api.getLock({ name: asked!.values.name! }, { signal }),
    { enabled: asked !== undefined, pollMs: POLL_MS },
  )
  // Counted so that the list below loads again too.
  const [changes, setChanges] = useState(0)
  const changed = (): void => {
    setChanges(changes + 1)
    query.reload()
  }
  const fields = [{ name: 'name', label: texts.name, hint: texts.nameHint }]
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Lookup fields={fields} problem={query.problem} asked={asked} onAsk={ask} />
      {asked !== undefined && (
        <Found query={query} nothing={texts.free} fields={fields}>
          {(lock) => <Lock lock={lock} onChanged={changed} />}
        </Found>
      )}
      <HeldLocks changes={changes} onAsk={(name) => ask({ name })} />
    </Page>
  )
}

function Lock({ lock, onChanged }: { lock: GetLockAnswer; onChanged(): void }) {
  const { guards } = useTexts()
  const texts = guards.locks
  const { can } = useSignedIn()
  const [breaking, setBreaking] = useState(false)
  const { name, held, fence, expiresAt } = lock
  return (
    <Panel
      title={name}
      actions={<State kind={held ? 'warning' : 'good'}>{held ? texts.held : texts.free}</State>}
    >
      <div className="record">
        <Facts
          items={[
            // An identifier rather than an amount, so it is shown without thousands separators.
            fence === undefined ? undefined : [texts.fence, <code key="fence">{fence}</code>],
            expiresAt === undefined ? undefined : [texts.expiresAt, <Time key="expires" value={expiresAt} />],
          ]}
        />
        {held && can('admin') && (
          <Button variant="default" className="dangerous" onClick={() => setBreaking(true)}>
            {texts.release}
          </Button>
        )}
        <Curl path={`/locks/${encodeURIComponent(name)}`} />
        <ConfirmDialog
          opened={breaking}
          onClose={() => setBreaking(false)}
          title={texts.releaseTitle}
          confirmLabel={texts.release}
          typed={name}
          onConfirm={async (call) => {
            await api.forceReleaseLock({ name }, call)
            announce(texts.released)
            onChanged()
          }}
        >
          {texts.releaseText}
        </ConfirmDialog>
      </div>
    </Panel>
  )
}
