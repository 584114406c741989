/**
 * Loaded into a command before it starts (`node --import`): of a file whose path matches STALLED_READS the command
 * reads the first half, and the rest after SIGUSR2. So a test reaches the middle of the work on any machine.
 */
import fs, { type ReadStream } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { PassThrough } from 'node:stream'
import { STALLED } from './stalled.js'

const paths = new RegExp(process.env.STALLED_READS!)
const { createReadStream } = fs

function stalling(path: string, options: object): PassThrough {
  const half = Math.ceil(fs.statSync(path).size / 2)
  const whole = new PassThrough()
  const first = createReadStream(path, { ...options, end: half - 1 })
  first.pipe(whole, { end: false })
  first.once('end', () => {
    if (whole.destroyed) return
    // A disk that does not answer keeps a process alive too.
    const waiting = setInterval(() => {}, 60_000)
    whole.once('close', () => clearInterval(waiting))
    process.once('SIGUSR2', () => createReadStream(path, { ...options, start: half }).pipe(whole))
    process.stderr.write(`${STALLED}\n`)
  })
  return whole
}

fs.createReadStream = ((path: string, options: object) =>
  paths.test(path)
    ? (stalling(path, options) as unknown as ReadStream)
    : createReadStream(path, options)) as typeof createReadStream
syncBuiltinESMExports()
