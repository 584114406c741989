import './allowlists.css'
import { Anchor, Button, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import type { CallOptions } from '../../../../src/client/operation.js'
import { type Allowlist, api } from '../../api/client.js'
import { dropUnsaved } from '../../data/unsaved.js'
import { type Query, useQuery } from '../../data/use-query.js'
import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { Page } from '../../parts/page.js'
import { ProblemView } from '../../parts/problem.js'
import { useSignedIn } from '../../session/store.js'
import { useFormat, useTexts } from '../../texts/language.js'
import { CodePanel } from './code-panel.js'
import { EditDialog } from './edit-dialog.js'
import { ExportMenu } from './export-menu.js'
import { ListDetails, ListLine } from './facts.js'
import { HistoryPanel, useHistory } from './history-panel.js'
import { IndexPanel } from './index-panel.js'
import { allLists } from './list-path.js'
import { MembersPanel } from './members-panel.js'
import { PastImports } from './past-imports.js'
import { UploadPanel } from './upload/upload-panel.js'
import { UsedBy } from './used-by.js'
import { unsavedName, WavePanels } from './wave/wave-panels.js'

/** Changes by other users, such as a pause, appear within this time. */
const POLL_MS = 3_000

export default function ListPage() {
  const { id = '' } = useParams<{ id: string }>()
  // Another list is another page: input for one must not reach the other.
  return <OneList key={id} id={id} />
}

function OneList({ id }: { id: string }) {
  const { allowlists: texts } = useTexts()
  const query = useQuery(id, (signal) => api.getAllowlist({ id }, { signal }), { pollMs: POLL_MS })
  const list = query.data
  const back = (
    <Anchor component={Link} {...allLists()} size="sm">
      {texts.backToAll}
    </Anchor>
  )
  if (list !== undefined) return <Shown list={list} query={query} back={back} />
  const isMissing = query.problem?.status === 404
  return (
    <Page title={texts.loadingList} lead={back}>
      {query.loading && <Skeleton height={160} radius="md" />}
      {isMissing ? (
        <div className="notice" role="alert">
          {texts.notFound}
        </div>
      ) : (
        <ProblemView problem={query.problem} retry={query.reload} />
      )}
    </Page>
  )
}

interface ShownProps {
  list: Allowlist
  query: Query<Allowlist>
  back: React.ReactNode
}

function Shown({ list, query, back }: ShownProps) {
  const { can } = useSignedIn()
  // Increments with every change made here, so that the history loads again.
  const [changes, setChanges] = useState(0)
  const changed = (): void => {
    setChanges((count) => count + 1)
    query.reload()
  }
  const history = useHistory(list.id, changes + list.version, can('admin'))
  const historyPanel = can('admin') && <HistoryPanel id={list.id} name={list.name} history={history} />
  return (
    <Page title={list.name} lead={back} actions={can('admin') && <Actions list={list} onChanged={changed} />}>
      <ProblemView problem={query.problem} retry={query.reload} />
      <ListLine list={list} />
      {list.config === undefined ? (
        <div className="with-aside">
          <div className="with-aside-main">
            <MembersPanel list={list} changes={changes} onChanged={changed} />
            {can('admin') && <UploadPanel list={list} onChanged={changed} />}
          </div>
          <div className="with-aside-side">
            <UsedBy id={list.id} />
            <IndexPanel id={list.id} changes={changes} onChanged={changed} />
            {historyPanel}
          </div>
        </div>
      ) : (
        <WavePanels
          list={list}
          rule={list.config}
          readAt={query.at!}
          isStale={query.problem !== undefined}
          entries={history.data?.items ?? []}
          beside={
            <>
              <UsedBy id={list.id} />
              {historyPanel}
            </>
          }
          onChanged={changed}
        />
      )}
      {list.type === 'FIXA' && <PastImports id={list.id} />}
      <CodePanel id={list.id} />
      <ListDetails list={list} />
    </Page>
  )
}

function Actions({ list, onChanged }: { list: Allowlist; onChanged(): void }) {
  const { allowlists: texts } = useTexts()
  const [open, setOpen] = useState<'rename' | 'delete'>()
  const close = (): void => setOpen(undefined)
  return (
    <>
      {list.type === 'FIXA' && <ExportMenu id={list.id} />}
      <Button variant="default" onClick={() => setOpen('rename')}>
        {texts.edit.open}
      </Button>
      <Button variant="default" className="dangerous" onClick={() => setOpen('delete')}>
        {texts.remove.open}
      </Button>
      <EditDialog list={list} opened={open === 'rename'} onClose={close} onChanged={onChanged} />
      <DeleteDialog list={list} opened={open === 'delete'} onClose={close} />
    </>
  )
}

function DeleteDialog({ list, opened, onClose }: { list: Allowlist; opened: boolean; onClose(): void }) {
  const { allowlists } = useTexts()
  const texts = allowlists.remove
  const format = useFormat()
  const [, navigate] = useLocation()
  const remove = async (call: CallOptions): Promise<void> => {
    await api.deleteAllowlist({ id: list.id }, call)
    dropUnsaved(unsavedName(list.id))
    announce(texts.removed(list.name))
    const { href, state } = allLists()
    navigate(href, { state })
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={texts.title}
      confirmLabel={texts.confirm}
      typed={list.id}
      onConfirm={remove}
    >
      {list.type === 'FIXA'
        ? texts.text(list.name, format.number(list.customerCount))
        : texts.textWave(list.name)}
    </ConfirmDialog>
  )
}
