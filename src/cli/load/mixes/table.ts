import { CatracaError } from '../../../core/errors.js'
import type { NextRequest } from '../request.js'
import { checksMix, sourceMix } from './checks.js'
import { cacheMix, limitsMix, tokensMix } from './guards.js'
import type { Mix, MixContext } from './mix.js'
import { idempotencyMix, locksMix } from './stepwise.js'

export const MIXES: Readonly<Record<string, Mix>> = {
  source: sourceMix,
  checks: checksMix,
  limits: limitsMix,
  idempotency: idempotencyMix,
  locks: locksMix,
  tokens: tokensMix,
  cache: cacheMix,
}

/** Names for combined mixes. The cache is not included: its space must be configured. */
export const COMPOUNDS: Readonly<Record<string, string>> = {
  mixed: 'source=70,limits=12,idempotency=8,locks=5,tokens=5',
}

interface WeightedMix {
  name: string
  weight: number
}

/** `source`, or `checks=80,limits=15,locks=5`. */
export function parseMix(text: string): WeightedMix[] {
  const spelled = Object.hasOwn(COMPOUNDS, text) ? COMPOUNDS[text]! : text
  const parts = spelled.split(',').map((part) => {
    const [name = '', weight = '1', ...more] = part.trim().split('=')
    if (!Object.hasOwn(MIXES, name)) {
      const known = [...Object.keys(MIXES), ...Object.keys(COMPOUNDS)].join(', ')
      throw new CatracaError('INVALID_INPUT', `mix must be made of ${known}`)
    }
    if (more.length > 0 || !/^\d{1,6}(\.\d{1,3})?$/.test(weight) || Number(weight) === 0)
      throw new CatracaError('INVALID_INPUT', `mix: the weight of ${name} must be a number above 0`)
    return { name, weight: Number(weight) }
  })
  if (new Set(parts.map(({ name }) => name)).size < parts.length)
    throw new CatracaError('INVALID_INPUT', 'mix names one part twice')
  return parts
}

export const mixesOf = (parts: readonly WeightedMix[]): Mix[] => parts.map(({ name }) => MIXES[name]!)

/** Requests of all parts, in proportion to their weights. */
export function openMix(parts: readonly WeightedMix[], context: MixContext): NextRequest {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  let bound = 0
  const choices = parts.map(({ name, weight }) => {
    bound += weight / total
    return { bound, next: MIXES[name]!.open(context) }
  })
  if (choices.length === 1) return choices[0]!.next
  const last = choices.at(-1)!
  return () => {
    const place = context.random()
    return (choices.find((choice) => place < choice.bound) ?? last).next()
  }
}
