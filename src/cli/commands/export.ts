import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Command } from 'commander'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { ExportFormat } from '../../guards/allowlist/types.js'
import { note } from '../output/print.js'
import { formatOfFile, formatOption } from './support/file-format.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface ExportFlags extends CommonOptions {
  format?: ExportFormat
  output?: string
  spreadsheet?: boolean
}

export function addExportCommand(allowlist: Command): void {
  dataCommand(allowlist, 'export <id>', 'write the members to standard output or to a file')
    .addOption(formatOption())
    .option('--spreadsheet', 'CSV for spreadsheets: no cell is run as a formula; not for importing again')
    .option('-o, --output <file>', 'file to write; compressed when it ends in .gz')
    .action(exportList)
}

function exportList(id: string, flags: ExportFlags): Promise<void> {
  const format =
    flags.format ?? (flags.json ? 'ndjson' : flags.output ? formatOfFile(flags.output) : undefined) ?? 'csv'
  return withSession(flags, async ({ allowlists }) => {
    const rows = allowlists.export(id, { format, spreadsheet: flags.spreadsheet === true })
    const members = Readable.from(rows, { objectMode: false })
    if (flags.output === undefined) {
      await pipeline(members, process.stdout, { end: false })
      return
    }
    await writeWhole(members, flags.output)
    note(`wrote ${flags.output}`)
  })
}

/**
 * Writes under a temporary name until the export is complete, so that a partial export is never taken for a complete
 * one.
 */
async function writeWhole(members: Readable, output: string): Promise<void> {
  const partial = `${output}.part-${process.pid}`
  const file = createWriteStream(partial)
  try {
    if (output.endsWith('.gz')) await pipeline(members, createGzip(), file)
    else await pipeline(members, file)
    await rename(partial, output)
  } catch (error) {
    await rm(partial, { force: true })
    if (isCatracaError(error) || (error as NodeJS.ErrnoException).path === undefined) throw error
    const code = (error as NodeJS.ErrnoException).code
    throw new CatracaError('INTERNAL', `cannot write ${output} (${code})`, { cause: error })
  }
}
