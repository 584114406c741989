// A test runs the example that uses PostgreSQL. Its packages are installed if possible; otherwise the run fails with
// instructions.
import { findPostgres } from '../examples/dict/postgres.mjs'
import { installCommand, installPackage } from './debian-package.mjs'

const PACKAGE = 'postgresql'

export function ensurePostgres() {
  if (findPostgres() !== undefined) return
  installPackage(PACKAGE)
  if (findPostgres() !== undefined) return
  console.error('A test needs PostgreSQL (initdb and postgres). Install it (as root) by:')
  console.error(`  ${installCommand(PACKAGE)}`)
  process.exit(1)
}
