import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** A directory that is removed after the tests of this file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
