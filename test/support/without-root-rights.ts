/**
 * A command of Node that obeys the rights of files also where root runs the tests. It stays the same user: another one
 * may have no right to read this directory.
 */
export function withoutRootRights(args: readonly string[]): [file: string, args: string[]] {
  if (process.getuid?.() !== 0) return [process.execPath, [...args]]
  return ['setpriv', ['--bounding-set=-dac_override,-dac_read_search', process.execPath, ...args]]
}
