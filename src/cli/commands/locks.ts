import { type Command, InvalidArgumentError } from 'commander'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { systemTiming } from '../../core/timing.js'
import { DEFAULT_TTL_MS, DEFAULT_WAIT_MS } from '../../guards/lock/options.js'
import type { LockQuery } from '../../guards/lock/types.js'
import { holdWhile } from '../../guards/lock/with-lock.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, pick, printFacts, printRows } from '../output/print.js'
import { runHeld } from './support/child-command.js'
import { addListingOptions, firstListed, LISTING, printListing } from './support/listing.js'
import { digits } from './support/parse.js'
import { changeCommand, dataCommand, inSession, type Session } from './support/session.js'

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
  const listing = dataCommand(lock, 'list', 'show the locks that are held; never by whom').option(
    '--older-than-seconds <seconds>',
    'only locks that were acquired at least so long ago',
    whole,
  )
  addListingOptions(listing).action(listLocks)
  dataCommand(lock, 'status <name>', 'show whether a lock is held').action(showStatus)
  changeCommand(lock, 'release <name...>', 'release a lock; with --force several')
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

async function releaseAll(locks: Session['locks'], names: string[], print: Session['print']): Promise<void> {
  const items: { name: string; released: boolean }[] = []
  for (const name of names) items.push({ name, released: await locks.forceRelease(name) })
  print({ items }, () => printRows(items, { NAME: 'name', RELEASED: ({ released }) => String(released) }))
}

const listLocks = inSession(async ({ locks, print }, flags: LockQuery) => {
  const page = await firstListed((query) => locks.list(query), pick(flags, [...LISTING, 'olderThanSeconds']))
  printListing(print, page, {
    ...{ NAME: 'name', FENCE: 'fence', EXPIRES: 'expiresAt' },
    HELD: ({ heldForMs }) => heldForMs && `${Math.round(heldForMs / 1000)} s`,
  })
})

const showStatus = inSession(async ({ locks, print }, name: string) => {
  const { held, fence, expiresAt } = await locks.status(name)
  const state = { name, held, ...(fence !== undefined && { fence }), ...(expiresAt && { expiresAt }) }
  print(state, () => printFacts(state))
})

const release = inSession(
  async ({ locks, print }, names: string[], { token, force }: { token?: string; force?: boolean }) => {
    if ((token === undefined) === (force !== true)) {
      throw new CatracaError('INVALID_INPUT', 'give either --token or --force')
    }
    if (names.length > 1) {
      if (!force) throw invalid('--token', 'belongs to one lock')
      return releaseAll(locks, names, print)
    }
    const name = names[0]!
    const released = force ? await locks.forceRelease(name) : await locks.release(name, token!)
    if (!released && !force)
      throw new CatracaError('LOCK_LOST', `the lock ${name} is no longer held with this token`)
    print({ name, released }, released ? `released ${name}` : `${name} was free`)
  },
)
