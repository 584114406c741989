/** The only place that reads the environment of the process. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env
}
