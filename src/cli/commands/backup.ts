import { type Command, Option } from 'commander'
import { backUpStore, type Manifest, restoreStore, verifyStoreBackup } from '../../app/embedded-backup.js'
import { storeOf } from '../../config/load.js'
import { invalid } from '../../core/errors.js'
import { version } from '../../core/version.js'
import { count, note, printJson, printLine } from '../output/print.js'
import { type ConfigOptions, configOf, configOption, settingOption } from './support/session.js'

interface Flags extends ConfigOptions {
  store?: string
  url?: string
  json?: boolean
  cache?: boolean
  force?: boolean
  verify?: boolean
}

const TOLD_EVERY_MS = 1000

export function addBackupCommands(program: Command): void {
  const add = (nameAndArguments: string, description: string): Command =>
    program
      .command(nameAndArguments)
      .description(description)
      .option('--json', 'print JSON')
      .addOption(settingOption('store', 'url'))
      // Accepted only to explain why it cannot be used: other commands have it.
      .addOption(new Option('--url <url>').hideHelp())
      .addOption(configOption())
  add(
    'backup <directory>',
    'copy an embedded store into a new directory, while servers run; the copy includes the secrets of the store',
  )
    .option(
      '--cache',
      'include cached entries; a restore then brings back entries that were deleted after the backup',
    )
    .action(backup)
  add('restore <backup>', 'create a data directory from a backup, all or nothing')
    .option('--force', 'rename the existing store and restore in its place')
    .option('--verify', 'only check the backup')
    .action(restore)
}

function storeFlag(flags: Flags): string {
  if (flags.url !== undefined) {
    throw invalid(
      'url',
      'cannot be used: run this where the data directory is (see docs/guides/backup-and-recovery.md)',
    )
  }
  return storeOf(configOf(flags, { store: 'store' }), 'allowlists')
}

async function backup(directory: string, flags: Flags): Promise<void> {
  const store = storeFlag(flags)
  const options = { version, withCache: flags.cache === true, onProgress: printProgress(flags, 'copied') }
  const manifest = await backUpStore(store, directory, options)
  if (flags.json) return printJson({ backup: directory, ...manifest })
  printLine(`${sum(manifest)} in ${directory}, as of ${manifest.startedAt} or later`)
  note('It holds the secrets of the store: keep it as safe as the store itself (files have mode 0600).')
}

async function restore(source: string, flags: Flags): Promise<void> {
  const onProgress = printProgress(flags, 'checked')
  const store = storeFlag(flags)
  if (flags.verify === true) {
    const manifest = await verifyStoreBackup(source, onProgress)
    if (flags.json) return printJson({ ok: true, ...manifest })
    return printLine(`${source} is complete and undamaged: ${sum(manifest)}, as of ${manifest.startedAt}`)
  }
  const { manifest, movedTo } = await restoreStore(store, source, { force: flags.force === true, onProgress })
  if (flags.json)
    return printJson({ restored: source, ...(movedTo !== undefined && { movedTo }), ...manifest })
  printLine(`${sum(manifest)} restored, as of ${manifest.startedAt}`)
  if (movedTo !== undefined) note(`The previous store is now in ${movedTo}.`)
}

function sum({ files }: Manifest): string {
  const bytes = files.reduce((all, { sizeBytes }) => all + sizeBytes, 0)
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${count(bytes)} bytes`
}

/** Prints nothing when the work takes less than a second. */
function printProgress({ json }: Flags, what: string): (doneBytes: number, totalBytes: number) => void {
  let toldMs = performance.now()
  return (doneBytes, totalBytes) => {
    if (json === true || performance.now() - toldMs < TOLD_EVERY_MS) return
    toldMs = performance.now()
    const share = Math.min(99, Math.floor((100 * doneBytes) / Math.max(1, totalBytes)))
    note(`${share} %: ${count(doneBytes)} bytes ${what}`)
  }
}
