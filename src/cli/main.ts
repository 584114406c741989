import { runCommandLine } from './command-line.js'
import { EXIT } from './output/failure.js'

// `catraca allowlist export vip | head` closes the pipe; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure)
})

// What is told to a person who has left is lost, and no reason to end: a server goes on without its terminal.
process.stderr.on('error', () => {})

process.exitCode = await runCommandLine(process.argv.slice(2))
