import { runCommandLine } from './command-line.js'
import { EXIT } from './output/failure.js'

// `catraca allowlist export vip | head` closes the pipe; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure)
})

process.exitCode = await runCommandLine(process.argv.slice(2))
