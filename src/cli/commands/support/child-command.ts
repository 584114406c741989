import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { processEnvironment } from '../../../config/environment.js'
import { CatracaError } from '../../../core/errors.js'
import { later } from '../../../core/timers.js'
import type { HeldLock } from '../../../guards/lock/types.js'

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** A terminal sends these to the command by itself. */
const FROM_TERMINALS = ['SIGINT', 'SIGQUIT'] as const

/**
 * Runs a command, with the fence of the lock in its environment; its exit code, or that the lock was lost, in which case
 * it was told to end, and made to.
 */
export function runHeld(
  [file, ...args]: string[],
  { signal }: HeldLock,
  fence: number | undefined,
  killAfterMs: number,
): Promise<number | 'lost'> {
  // Inside another such command, the outer fence must not pass for that of a lock without one.
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
  // Before there is a command that could outlive this process: a signal that comes in between waits for it.
  for (const name of handled) process.on(name, forward)
  const child = spawn(file!, args, { stdio: 'inherit', env })
  signal.addEventListener('abort', lose, { once: true })
  return new Promise<number | 'lost'>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new CatracaError('INVALID_INPUT', `cannot run ${file}: ${error.code ?? error.message}`))
    })
    child.once('exit', (code, endedBy) => {
      if (signal.aborted) resolve('lost')
      // As shells say it of a command that a signal has ended.
      else resolve(code ?? 128 + constants.signals[endedBy!])
    })
  }).finally(() => {
    clearTimeout(killing)
    signal.removeEventListener('abort', lose)
    for (const name of handled) process.removeListener(name, forward)
  })
}
