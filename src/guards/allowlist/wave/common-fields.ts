import { isoTime } from '../../../core/clock.js'
import { plainName } from '../../../core/identifiers.js'
import { type Fail, type FieldsOf, readArray, readBy, readTime } from './field.js'

/** Fields that rules of every strategy may have. */
export interface CommonFields {
  /** First and last millisecond of the time window. */
  startTime?: number
  endTime?: number
  /** Only customers who pass this allowlist too. */
  base?: string
  /** No customer who passes one of these allowlists. */
  exclude?: string[]
}

const MAX_EXCLUDED_LISTS = 100
const readListId = readBy(plainName)

const schema = { type: 'number', description: 'Epoch milliseconds' } as const

export const COMMON_FIELDS: FieldsOf<CommonFields> = {
  startTime: {
    schema,
    read: readTime,
    option: ['--start <time>', 'time', 'the wave opens at this time'],
    describe: (at) => [`opens ${isoTime(at)}`],
  },
  endTime: {
    schema,
    read: readTime,
    option: ['--end <time>', 'time', 'the wave closes at this time'],
    describe: (at) => [`closes ${isoTime(at)}`],
  },
  base: {
    schema: { type: 'string', description: 'Only customers who pass this allowlist too' },
    read: readListId,
    option: ['--base <id>', 'id', 'only customers who pass this allowlist'],
    describe: (id) => [`base ${id}`],
  },
  exclude: {
    schema: { type: 'array', items: { type: 'string' }, description: 'Nobody who passes one of these' },
    read(path, value, fail) {
      const ids = new Set<string>()
      return readArray(path, value, MAX_EXCLUDED_LISTS, fail, (entryPath, entry) => {
        const id = readListId(entryPath, entry, fail)
        if (id !== undefined && ids.has(id)) return fail(entryPath, 'repeats an earlier entry')
        if (id !== undefined) ids.add(id)
        return id
      })
    },
    option: ['--exclude <ids>', 'list', 'no customer who passes one of these allowlists'],
    describe: (ids) => [`without ${ids.join(', ')}`],
  },
}

/** Fails where fields contradict each other. */
export function checkCommon(
  path: string,
  { startTime, endTime, base, exclude }: CommonFields,
  fail: Fail,
): void {
  if (startTime !== undefined && endTime !== undefined && endTime <= startTime)
    fail(`${path}.endTime`, 'must be after startTime')
  if (base !== undefined && exclude?.includes(base)) fail(`${path}.base`, 'must not be in exclude as well')
}

/** The time window applies to every strategy. Both ends are inside. */
export function insideWindow({ startTime, endTime }: CommonFields, at: number): boolean {
  return at >= (startTime ?? Number.NEGATIVE_INFINITY) && at <= (endTime ?? Number.POSITIVE_INFINITY)
}
