import { Command } from 'commander'
import { version } from '../core/version.js'
import { addAuditCommands } from './commands/audit.js'
import { addBackupCommands } from './commands/backup.js'
import { addBenchCommands } from './commands/bench.js'
import { addCacheCommands } from './commands/cache.js'
import { addCheckCommand } from './commands/check.js'
import { addCodeCommands } from './commands/codes.js'
import { addConfigFileCommands } from './commands/config-file.js'
import { addDoctorCommand } from './commands/doctor.js'
import { addDynamodbCommands } from './commands/dynamodb.js'
import { addExportCommand } from './commands/export.js'
import { addFleetCommand } from './commands/fleet.js'
import { addIdempotencyCommands } from './commands/idempotency.js'
import { addImportCommands } from './commands/import.js'
import { addIndexCommands } from './commands/indexes.js'
import { addKeyCommands } from './commands/keys.js'
import { addLimitConfigCommands } from './commands/limit-configs.js'
import { addLimitCommands } from './commands/limits.js'
import { addListCommands } from './commands/lists.js'
import { addLockCommands } from './commands/locks.js'
import { addMemberCommands } from './commands/members.js'
import { addRampCommand } from './commands/ramp.js'
import { addRelayCommand } from './commands/relay.js'
import { addReshardCommand } from './commands/reshard.js'
import { addServeCommand } from './commands/serve.js'
import { addTokenCommands } from './commands/tokens.js'
import { printUsageError } from './output/failure.js'

/** The whole command line. `json`: whether errors are printed as JSON, known before the options are parsed. */
export function buildProgram({ json }: { json: boolean }): Command {
  const program = new Command('catraca')
    .description('Request-time guards for backend services: who may pass, and how many.')
    .version(version)
    .exitOverride()
    .configureOutput({
      outputError: (message) => {
        // Commander adds suggestions on further lines; an error must be one line.
        const line = message
          .replace(/^error: /, '')
          .trim()
          .replaceAll('\n', ' ')
        printUsageError(line, 'catraca --help', json)
      },
    })
  addServeCommand(program)
  addCheckCommand(program)
  const allowlist = program.command('allowlist').description('allowlists and their members')
  addListCommands(allowlist)
  addMemberCommands(allowlist)
  addImportCommands(allowlist)
  addExportCommand(allowlist)
  addRampCommand(allowlist)
  addReshardCommand(allowlist)
  addIndexCommands(allowlist, program)
  addLimitCommands(program)
  addConfigFileCommands(addLimitConfigCommands(program))
  addIdempotencyCommands(program)
  addCodeCommands(program)
  addTokenCommands(program)
  addLockCommands(program)
  addCacheCommands(program)
  addKeyCommands(program)
  addAuditCommands(program)
  addDynamodbCommands(program)
  addRelayCommand(program)
  addFleetCommand(program)
  addDoctorCommand(program)
  addBackupCommands(program)
  addBenchCommands(program)
  return program
}
