import { type Command, Option } from 'commander'
import { backUpStore, type Manifest, restoreStore, verifyStoreBackup } from '../../app/embedded-backup.js'
import { invalid } from '../../core/errors.js'
import { version } from '../../core/version.js'
import { count, note, oncePerSecond, printResult } from '../output/print.js'
import { type ConfigOptions, storeCommand, storeUrlOf } from './support/session.js'

interface Flags extends ConfigOptions {
  url?: string
  json?: boolean
  cache?: boolean
  force?: boolean
  verify?: boolean
}

export function addBackupCommands(program: Command): void {
  const add = (nameAndArguments: string, description: string): Command =>
    // `--url` is accepted only to explain why it cannot be used: other commands have it.
    storeCommand(program, nameAndArguments, description).addOption(new Option('--url <url>').hideHelp())
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
  return storeUrlOf(flags)
}

async function backup(directory: string, flags: Flags): Promise<void> {
  const store = storeFlag(flags)
  const options = { version, withCache: flags.cache === true, onProgress: printProgress(flags, 'copied') }
  const manifest = await backUpStore(store, directory, options)
  const text = `${sum(manifest)} in ${directory}, as of ${manifest.startedAt} or later`
  printResult(flags.json, { backup: directory, ...manifest }, text)
  if (flags.json) return
  note('It holds the secrets of the store: keep it as safe as the store itself (files have mode 0600).')
}

async function restore(source: string, flags: Flags): Promise<void> {
  const onProgress = printProgress(flags, 'checked')
  const store = storeFlag(flags)
  if (flags.verify === true) {
    const manifest = await verifyStoreBackup(source, onProgress)
    const text = `${source} is complete and undamaged: ${sum(manifest)}, as of ${manifest.startedAt}`
    return printResult(flags.json, { ok: true, ...manifest }, text)
  }
  const { manifest, movedTo } = await restoreStore(store, source, { force: flags.force === true, onProgress })
  const text = `${sum(manifest)} restored, as of ${manifest.startedAt}`
  printResult(flags.json, { restored: source, movedTo, ...manifest }, text)
  if (!flags.json && movedTo !== undefined) note(`The previous store is now in ${movedTo}.`)
}

function sum({ files }: Manifest): string {
  const bytes = files.reduce((all, { sizeBytes }) => all + sizeBytes, 0)
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${count(bytes)} bytes`
}

function printProgress({ json }: Flags, what: string): (doneBytes: number, totalBytes: number) => void {
  if (json === true) return () => {}
  return oncePerSecond((doneBytes, totalBytes) => {
    const share = Math.min(99, Math.floor((100 * doneBytes) / Math.max(1, totalBytes)))
    note(`${share} %: ${count(doneBytes)} bytes ${what}`)
  })
}
