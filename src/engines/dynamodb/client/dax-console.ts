const METHODS = ['error', 'warn', 'log'] as const
const PACKAGE_PATH = /[\\/]@amazon-dax-sdk[\\/]/
/** Of a stack: behind the name of the error and the function that looks at it. */
const CALLER_LINE = 2

let isSilent = false

/**
 * The client of DAX prints failures with their stacks to the console and has no setting against it: its lines would
 * stand between those of the JSON log, every few seconds, and after it was closed too. What others print goes through.
 */
export function silenceDaxClient(): void {
  if (isSilent) return
  isSilent = true
  for (const method of METHODS) {
    const print = console[method]
    console[method] = (...args: unknown[]): void => {
      const caller = new Error().stack?.split('\n')[CALLER_LINE] ?? ''
      if (!PACKAGE_PATH.test(caller)) print.apply(console, args)
    }
  }
}
