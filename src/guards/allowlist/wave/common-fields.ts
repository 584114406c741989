import { isoTime } from '../../../core/clock.js'
import type { FieldError } from '../../../core/errors.js'
import { plainName } from '../../../core/identifiers.js'
import { type FieldsOf, readArray, readBy, readTime } from './field.js'

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
    option: { flags: '--start <time>', as: 'time', help: 'the wave opens at this time' },
    describe: (at) => [`opens ${isoTime(at)}`],
  },
  endTime: {
    schema,
    read: readTime,
    option: { flags: '--end <time>', as: 'time', help: 'the wave closes at this time' },
    describe: (at) => [`closes ${isoTime(at)}`],
  },
  base: {
    schema: { type: 'string', description: 'Only customers who pass this allowlist too' },
    read: readListId,
    option: { flags: '--base <id>', as: 'id', help: 'only customers who pass this allowlist' },
    describe: (id) => [`base ${id}`],
  },
  exclude: {
    schema: { type: 'array', items: { type: 'string' }, description: 'Nobody who passes one of these' },
    read(path, value, errors) {
      const ids = new Set<string>()
      return readArray(path, value, MAX_EXCLUDED_LISTS, errors, (entryPath, entry) => {
        const id = readListId(entryPath, entry, errors)
        if (id === undefined) return undefined
        if (ids.has(id)) errors.push({ path: entryPath, message: 'repeats an earlier entry' })
        ids.add(id)
        return id
      })
    },
    option: {
      flags: '--exclude <ids>',
      as: 'list',
      help: 'no customer who passes one of these allowlists',
    },
    describe: (ids) => [`without ${ids.join(', ')}`],
  },
}

/** Fields that contradict each other. */
export function conflicts(path: string, { startTime, endTime, base, exclude }: CommonFields): FieldError[] {
  const isBackwards = startTime !== undefined && endTime !== undefined && endTime <= startTime
  const isExcluded = base !== undefined && exclude?.includes(base)
  return [
    ...(isBackwards ? [{ path: `${path}.endTime`, message: 'must be after startTime' }] : []),
    ...(isExcluded ? [{ path: `${path}.base`, message: 'must not be in exclude as well' }] : []),
  ]
}

/** The time window applies to every strategy. Both ends are inside. */
export function insideWindow({ startTime, endTime }: CommonFields, at: number): boolean {
  return (startTime === undefined || at >= startTime) && (endTime === undefined || at <= endTime)
}
