import { processEnvironment } from '../config/environment.js'
import { EXIT, reportFailure } from './output/failure.js'
import { buildProgram } from './program.js'

/** Runs one command and returns its exit code. */
export async function runCommandLine(argv: string[]): Promise<number> {
  const json = argv.includes('--json')
  try {
    await buildProgram({ json }).parseAsync(argv, { from: 'user' })
    return EXIT.ok
  } catch (error) {
    return reportFailure(error, { json, debug: isDebugging() })
  }
}

/** Reads the environment directly, because loading the configuration may be what failed. */
function isDebugging(): boolean {
  const value = processEnvironment().CATRACA_DEBUG
  return value === '1' || value === 'true'
}
