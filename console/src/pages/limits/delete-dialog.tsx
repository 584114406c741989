import { announce } from '../../parts/announcer.js'
import { ConfirmDialog } from '../../parts/confirm-dialog.js'
import { useTexts } from '../../texts/language.js'
import { type Address, effectiveLimits, type Levels, levelsBelow } from './model.js'
import { removeConfig } from './store.js'
import { LimitList } from './words.js'

export interface DeleteDialogProps {
  address: Address
  levels: Levels
  opened: boolean
  onClose(): void
  onDeleted(): void
}

/** Shows which limits apply without this level. */
export function DeleteDialog({ address, levels, opened, onClose, onDeleted }: DeleteDialogProps) {
  const { limits: texts } = useTexts()
  const { level, resource } = address
  // The resource level is above the system level, so it stays when the system level is deleted.
  const stay = level === 'system' ? (['resource'] as const) : levelsBelow(level)
  const remaining = effectiveLimits(levels, stay)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={texts.deleteTitle}
      confirmLabel={texts.delete}
      onConfirm={async (call) => {
        await removeConfig(address, call)
        announce(texts.deleted)
        onDeleted()
      }}
    >
      <p className="dialog-text">{texts.deleteText[level](address.entity ?? resource, resource)}</p>
      {remaining.length === 0 ? (
        <p className="dialog-text">
          <strong>{texts.deleteNothingLeft(resource)}</strong>
        </p>
      ) : (
        <>
          <p className="dialog-text">{texts.deleteAfterwards}</p>
          <LimitList items={remaining} />
        </>
      )}
      {level === 'system' && <p className="dialog-text">{texts.deleteSystemNote}</p>}
    </ConfirmDialog>
  )
}
