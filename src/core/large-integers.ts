import { endOfString } from './json-text.js'

/** Fewer digits always make an integer below 2^53. */
const MANY_DIGITS = /\d{16}/
const QUOTE_OR_MANY_DIGITS = /"|\d{16,}/g
const DIGIT_OF_FRACTION = /[.eE]/
const MAX_PATH = 256

export const INTEGER_RULE = 'must be an integer below 2^53: give larger ones as text'

interface Place {
  value: object
  path: string
}

/**
 * Finds an integer from 2^53 on in a JSON text that parsing to `value` has rounded, and returns its path: the value is not
 * the one that was sent. An integer that is written again with the same digits passes, so exports can be imported. Most texts have no run of so many digits, and are not
 * searched. Numbers with a fraction or an exponent are floating point for every program, and pass. `root` is the name
 * of the whole value; without it, a path begins with the name of a member.
 */
export function largeInteger(text: string, value: unknown, root = ''): string | undefined {
  if (!MANY_DIGITS.test(text)) return undefined
  const sizes = largeIntegers(text)
  const path = sizes.size === 0 ? undefined : pathOf(sizes, value, root)
  return path === undefined || path.length <= MAX_PATH ? path : `${path.slice(0, MAX_PATH)}…`
}

/** Of all rounded integers outside strings, without their signs. */
function largeIntegers(text: string): Set<number> {
  const sizes = new Set<number>()
  const next = new RegExp(QUOTE_OR_MANY_DIGITS)
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    if (match[0] === '"') next.lastIndex = endOfString(text, match.index) + 1
    else if (!DIGIT_OF_FRACTION.test(`${text[match.index - 1] ?? ''}${text[next.lastIndex] ?? ''}`)) {
      const size = Number(match[0])
      if (String(size) !== match[0]) sizes.add(size)
    }
  }
  return sizes
}

/** Not recursive: a text can be nested deeper than the stack. */
function pathOf(sizes: ReadonlySet<number>, value: unknown, root: string): string | undefined {
  const isLarge = (child: unknown): boolean => typeof child === 'number' && sizes.has(Math.abs(child))
  if (isLarge(value)) return root
  const waiting: Place[] = isObject(value) ? [{ value, path: root }] : []
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    for (const [name, child] of Object.entries(place.value)) {
      if (!isLarge(child) && !isObject(child)) continue
      const path = Array.isArray(place.value) ? `${place.path}[${name}]` : joined(place.path, name)
      if (isLarge(child)) return path
      waiting.push({ value: child as object, path })
    }
  }
  return undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
