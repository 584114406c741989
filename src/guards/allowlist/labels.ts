import { invalid } from '../../core/errors.js'
import type { ListLabels } from './types.js'

const MAX_TAGS = 20
const TAG = /^[A-Za-z0-9._~:@+=/-]{1,64}$/
const MAX_OWNER = 256
const MAX_DESCRIPTION = 2000
/** The description may have several lines. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

/** Validates those labels that are given. Empty ones clear what a list has. */
export function parseLabels({ tags, owner, description }: ListLabels): ListLabels {
  return {
    ...(tags !== undefined && { tags: parseTags(tags) }),
    ...(owner !== undefined && { owner: text('owner', owner, MAX_OWNER) }),
    ...(description !== undefined && {
      description: text('description', description, MAX_DESCRIPTION, /[\t\n\r]/g),
    }),
  }
}

function parseTags(tags: unknown): string[] {
  if (!Array.isArray(tags) || tags.length > MAX_TAGS)
    throw invalid('tags', `must be at most ${MAX_TAGS} tags`)
  for (const [i, tag] of tags.entries()) {
    if (typeof tag !== 'string' || !TAG.test(tag))
      throw invalid(`tags[${i}]`, 'must be 1 to 64 of A-Z a-z 0-9 . _ ~ : @ + = / -')
  }
  return [...new Set(tags as string[])].sort()
}

function text(path: string, value: unknown, max: number, allowed?: RegExp): string {
  const isText = typeof value === 'string' && value.length <= max
  if (isText && !UNPRINTABLE.test(allowed === undefined ? value : value.replace(allowed, ''))) {
    return value.trim()
  }
  throw invalid(path, `must be at most ${max} characters, without control characters`)
}

/** The labels that a list has. Engines store those that were cleared as empty. */
export function labelsOf({ tags, owner, description }: ListLabels): ListLabels {
  return {
    ...(tags !== undefined && tags.length > 0 && { tags }),
    ...(owner && { owner }),
    ...(description && { description }),
  }
}
