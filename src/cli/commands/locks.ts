import { type Command, InvalidArgumentError } from 'commander'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import { DEFAULT_TTL_MS, DEFAULT_WAIT_MS } from '../../guards/lock/options.js'
import { systemTiming } from '../../guards/lock/timing.js'
import { holdWhile } from '../../guards/lock/with-lock.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, printFacts } from '../output/print.js'
import { runHeld } from './support/child-command.js'
import { digits } from './support/parse.js'
import { dataCommand, inSession } from './support/session.js'

interface RunFlags {
  ttlMs: number
  waitMs: number
  heldExitCode?: number
  killAfterMs: number
}

export function addLockCommands(program: Command): void {
  const lock = program.command('lock').description('locks with fencing')
  dataCommand(
    lock,
    'run <name> <command...>',
    'run a command while holding a lock; the fencing number is in CATRACA_FENCE',
  )
    .usage('[options] <name> -- <command...>')
    .option('--ttl-ms <ms>', 'time after which the lock expires if this process dies', whole, DEFAULT_TTL_MS)
    .option('--wait-ms <ms>', 'how long to wait for the lock', whole, DEFAULT_WAIT_MS)
    .option(
      '--held-exit-code <code>',
      'exit code when the lock could not be acquired; 1 when absent',
      exitCode,
    )
    .option('--kill-after-ms <ms>', 'when the lock is lost: time from SIGTERM to SIGKILL', whole, 5000)
    .action(run)
  dataCommand(lock, 'status <name>', 'show whether a lock is held').action(showStatus)
  dataCommand(lock, 'release <name>', 'release a lock')
    .option('--token <token>', 'token that the acquire returned')
    .option('--force', 'release it even though another caller holds it')
    .action(release)
}

const whole = digits(9)

function exitCode(text: string): number {
  const code = whole(text)
  if (code > 255) throw new InvalidArgumentError('Give a number from 0 to 255.')
  return code
}

const run = inSession(async ({ locks }, name: string, command: string[], flags: RunFlags) => {
  const { ttlMs, waitMs, heldExitCode, killAfterMs } = flags
  const report = (message: string) => note(`catraca: ${message}`)
  const running = holdWhile({ locks, timing: systemTiming, report }, name, { ttlMs, waitMs }, (lock) =>
    runHeld(command, lock, lock.fenceOf(name), killAfterMs),
  )
  const code = await running.catch((error) => {
    if (heldExitCode === undefined || !isCatracaError(error, 'LOCK_HELD')) throw error
    report(error.message)
    return heldExitCode
  })
  if (code === 'lost') {
    report(`the lock ${name} was lost, so the command was stopped`)
    throw new Exit(EXIT.failure)
  }
  if (code !== 0) throw new Exit(code)
})

const showStatus = inSession(async ({ locks, print }, name: string) => {
  const { held, fence, expiresAt } = await locks.status(name)
  const state = { name, held, ...(fence !== undefined && { fence }), ...(expiresAt && { expiresAt }) }
  print(state, () => printFacts(state))
})

const release = inSession(
  async ({ locks, print }, name: string, { token, force }: { token?: string; force?: boolean }) => {
    if ((token === undefined) === (force !== true)) {
      throw new CatracaError('INVALID_INPUT', 'give either --token or --force')
    }
    const released = force ? await locks.forceRelease(name) : await locks.release(name, token!)
    if (!released && !force)
      throw new CatracaError('LOCK_LOST', `the lock ${name} is no longer held with this token`)
    print({ name, released }, released ? `released ${name}` : `${name} was free`)
  },
)
