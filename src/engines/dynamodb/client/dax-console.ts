const METHODS = ['error', 'warn', 'log'] as const
const PACKAGE_PATH = /[\\/]@amazon-dax-sdk[\\/]/
/** Line of a stack trace: after the name of the error and the function that inspects it. */
const CALLER_LINE = 2

let isSilent = false

/**
 * The DAX client prints failures with their stack traces to the console, every few seconds, even after it was closed,
 * and has no option against it. These lines would mix with the JSON log. Output of other callers is not affected.
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
