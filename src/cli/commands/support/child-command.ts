import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { processEnvironment } from '../../../config/environment.js'
import { CatracaError } from '../../../core/errors.js'
import { later } from '../../../core/timers.js'
import type { HeldLock } from '../../../guards/lock/types.js'

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** A terminal sends these signals to the command directly. */
const FROM_TERMINALS = ['SIGINT', 'SIGQUIT'] as const

/**
 * Runs a command with the fencing number of the lock in its environment. Returns its exit code, or that the lock was
 * lost; the command was then terminated.
 */
export function runHeld(
  [file, ...args]: string[],
  { signal }: HeldLock,
  fence: number | undefined,
  killAfterMs: number,
): Promise<number | 'lost'> {
  // When this runs inside another such command, the outer fencing number must not be inherited by a lock without one.
  const { CATRACA_FENCE: _, ...outer } = processEnvironment()
  const env = { ...outer, ...(fence !== undefined && { CATRACA_FENCE: String(fence) }) }
  const forward = (name: NodeJS.Signals) => {
    const isSent = process.stdin.isTTY && (FROM_TERMINALS as readonly string[]).includes(name)
    if (!isSent) child.kill(name)
  }
  const handled = [...FORWARDED, ...FROM_TERMINALS]
  let killing: NodeJS.Timeout | undefined
  const lose = () => {
    child.kill('SIGTERM')
    killing = later(() => child.kill('SIGKILL'), killAfterMs)
  }
  // Registered before the command starts, so that a signal cannot end this process while the command keeps running.
  for (const name of handled) process.on(name, forward)
  const child = spawn(file!, args, { stdio: 'inherit', env })
  signal.addEventListener('abort', lose, { once: true })
  return new Promise<number | 'lost'>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new CatracaError('INVALID_INPUT', `cannot run ${file}: ${error.code ?? error.message}`))
    })
    child.once('exit', (code, endedBy) => {
      if (signal.aborted) resolve('lost')
      // The exit code that shells use for a command that a signal ended.
      else resolve(code ?? 128 + constants.signals[endedBy!])
    })
  }).finally(() => {
    clearTimeout(killing)
    signal.removeEventListener('abort', lose)
    for (const name of handled) process.removeListener(name, forward)
  })
}
