import { Button, Group, Progress, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Allowlist, ImportStatus } from '../../../api/client.js'
import { announce } from '../../../parts/announcer.js'
import { ConfirmDialog } from '../../../parts/confirm-dialog.js'
import { Icon } from '../../../parts/icons.js'
import { Panel } from '../../../parts/panel.js'
import { ProblemView } from '../../../parts/problem.js'
import { useFormat, useTexts } from '../../../texts/language.js'
import { CsvColumns } from './csv-columns.js'
import { DropZone } from './drop-zone.js'
import { Paste } from './paste.js'
import { type ColumnChoice, type CsvPreview, columnOf, defaultChoice, previewOf } from './preview.js'
import { UploadResult } from './upload-result.js'
import { cancelUpload, forgetUpload, type Mode, startUpload, type Upload, useUpload } from './uploads.js'

export interface UploadPanelProps {
  list: Allowlist
  onChanged(): void
}

/** Imports a file of customers: adds them to the list, or replaces the list. */
export function UploadPanel({ list, onChanged }: UploadPanelProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  const [file, setFile] = useState<File>()
  const [mode, setMode] = useState<Mode>('add')
  const [asking, setAsking] = useState(false)
  const ended = ({ state, added, rejected }: ImportStatus): void => {
    const isDone = state === 'completed'
    announce(isDone ? texts.result(format.number(added), format.number(rejected)) : texts.failed)
    onChanged()
  }
  const upload = useUpload(list.id, ended)
  const [columns, setColumns] = useState<{ preview: CsvPreview; choice: ColumnChoice }>()
  const busy = upload.phase === 'sending' || upload.phase === 'storing'
  const choose = async (next: File): Promise<void> => {
    const preview = await previewOf(next)
    setColumns(preview && { preview, choice: defaultChoice(preview) })
    setFile(next)
    forgetUpload(list.id)
  }
  const start = (mode: Mode): void => {
    const column = columns && columnOf(columns.preview, columns.choice)
    void startUpload(list.id, { file: file!, mode, ...(column !== undefined && { column }) })
  }
  return (
    <Panel title={texts.title} lead={texts.lead}>
      <Stack gap="md">
        <DropZone file={file} disabled={busy} onFile={(next) => void choose(next)} />
        {!busy && file === undefined && <Paste onFile={(next) => void choose(next)} />}
        {file !== undefined && !busy && upload.phase !== 'ended' && (
          <>
            {columns !== undefined && (
              <CsvColumns {...columns} onChoice={(choice) => setColumns({ ...columns, choice })} />
            )}
            <ModeChoice mode={mode} onMode={setMode} />
            <Group gap="xs">
              <Button
                leftSection={<Icon name="upload" size={16} />}
                onClick={() => (mode === 'add' ? start(mode) : setAsking(true))}
              >
                {texts.start}
              </Button>
            </Group>
          </>
        )}
        {busy && <UnderWay upload={upload} onCancel={() => cancelUpload(list.id)} />}
        {upload.phase === 'cancelled' && (
          <div className="notice" role="status">
            {texts.cancelled}
          </div>
        )}
        {upload.phase === 'refused' && <ProblemView problem={upload.problem} />}
        {upload.phase === 'ended' && <UploadResult id={list.id} status={upload.status} />}
      </Stack>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={mode === 'remove' ? texts.removeTitle : texts.replaceTitle}
        confirmLabel={mode === 'remove' ? texts.removeConfirm : texts.replaceConfirm}
        isLocal
        onConfirm={async () => start(mode)}
      >
        {mode === 'remove' ? (
          <p>{texts.removeText(file?.name ?? '')}</p>
        ) : (
          <>
            <p>{texts.replaceText(format.number(list.customerCount), file?.name ?? '')}</p>
            <p>{texts.replaceWhole}</p>
          </>
        )}
      </ConfirmDialog>
    </Panel>
  )
}

function ModeChoice({ mode, onMode }: { mode: Mode; onMode(mode: Mode): void }) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  return (
    <Radio.Group label={texts.mode} value={mode} onChange={(value) => onMode(value as Mode)}>
      <div className="choice-pair">
        {(['add', 'remove', 'replace'] as const).map((value) => (
          <Radio key={value} value={value} label={texts.modes[value]} description={texts.modeHint[value]} />
        ))}
      </div>
    </Radio.Group>
  )
}

interface UnderWayProps {
  upload: Upload
  onCancel(): void
}

function UnderWay({ upload, onCancel }: UnderWayProps) {
  const { allowlists } = useTexts()
  const texts = allowlists.upload
  const format = useFormat()
  // After all bytes are sent, the import can no longer be cancelled.
  if (upload.phase === 'sending' && upload.sentBytes < upload.totalBytes) {
    const { totalBytes } = upload
    // The count includes headers.
    const sent = Math.min(upload.sentBytes, totalBytes)
    const percent = totalBytes === 0 ? 100 : (sent / totalBytes) * 100
    return (
      <Stack gap="xs">
        <Group justify="space-between">
          <Text size="sm" fw={550}>
            {texts.sending}
          </Text>
          <Text size="sm" className="figure">
            {texts.sent(format.bytes(sent), format.bytes(totalBytes))}
          </Text>
        </Group>
        <Progress value={percent} aria-label={texts.sending} />
        <Text size="sm" c="dimmed">
          {texts.sendingHint}
        </Text>
        <Group>
          <Button size="compact-sm" variant="default" onClick={onCancel}>
            {texts.cancel}
          </Button>
        </Group>
      </Stack>
    )
  }
  const rows = upload.phase === 'storing' ? (upload.status?.rowsAcknowledged ?? 0) : 0
  return (
    <Stack gap="xs" role="status">
      <Group justify="space-between">
        <Text size="sm" fw={550}>
          {texts.storing}
        </Text>
        <Text size="sm" className="figure">
          {texts.stored(format.number(rows))}
        </Text>
      </Group>
      <Progress value={100} animated aria-label={texts.storing} />
      <Text size="sm" c="dimmed">
        {texts.storingHint}
      </Text>
    </Stack>
  )
}
