import { isoTime } from '../../../core/clock.js'
import { type Fail, readArray, readFields, readShare, readTime } from './field.js'
import type { Strategy } from './strategy.js'

/** From `at` (epoch milliseconds) on, the wave admits this percentage of customers. */
export interface RampStep {
  at: number
  percentage: number
}

export interface PercentageFields {
  /** From 0 to 1: the percentage before the first step of the ramp. */
  percentage?: number
  ramp?: RampStep[]
}

export interface PercentageFacts {
  /** For step `percentage`: the customer's place in the wave, and the percentage open now. */
  place?: number
  percentage?: number
}

const MAX_STEPS = 1_000
const STEP = {
  type: 'object',
  properties: { at: { type: 'number' }, percentage: { type: 'number' } },
  required: ['at', 'percentage'],
  additionalProperties: false,
} as const

/** Customers whose place is below the percentage. It may rise by steps. */
export const percentage: Strategy<PercentageFields, 'percentage', PercentageFacts> = {
  fields: {
    percentage: {
      schema: { type: 'number', description: '0 to 1' },
      read: readShare,
      option: ['--percentage <share>', 'share', 'share of customers that may pass, 0 to 1'],
      describe: (share) => [percent(share)],
    },
    ramp: {
      schema: { type: 'array', items: STEP },
      read: readRamp,
      option: [
        '--step <time=share>',
        'step',
        'from TIME on, SHARE of the customers may pass; may be repeated',
      ],
      describe: (ramp) => ramp.map((step) => `${percent(step.percentage)} from ${isoTime(step.at)}`),
    },
  },
  missing(given) {
    const ramp = given.get('ramp')
    const noRamp = ramp === undefined || (Array.isArray(ramp) && ramp.length === 0)
    if (!given.has('percentage') && noRamp) return ['percentage', 'is required when there is no ramp']
    return undefined
  },
  compile({ percentage, ramp }, place) {
    const rule = { percentage: percentage ?? 0, ramp: (ramp ?? []).toSorted((a, b) => a.at - b.at) }
    return {
      admits: (customerId, now) => place(customerId) < percentageAt(rule, now),
      facts(customerId, now) {
        const facts = { place: place(customerId), percentage: percentageAt(rule, now) }
        return { ...facts, detail: `place ${facts.place}, open to ${facts.percentage}` }
      },
    }
  },
  step: 'percentage',
  facts: {
    place: { type: 'number', description: 'Of `percentage`: where the customer stands, 0 to 1' },
    percentage: { type: 'number', description: 'Of `percentage`: what is open now, 0 to 1' },
  },
  shareAt: percentageAt,
  turns: ({ ramp = [] }) => ramp.map(({ at }) => at),
  postponed: (rule, from, byMs) =>
    rule.ramp === undefined
      ? rule
      : { ...rule, ramp: rule.ramp.map((step) => (step.at > from ? { ...step, at: step.at + byMs } : step)) },
  flagReason: 'SPLIT',
  closed: { percentage: 0 },
}

/** That of the latest step of the ramp, which ascends. */
function percentageAt({ percentage = 0, ramp = [] }: PercentageFields, now: number): number {
  let begun = 0
  let end = ramp.length
  while (begun < end) {
    const middle = (begun + end) >>> 1
    if (ramp[middle]!.at <= now) begun = middle + 1
    else end = middle
  }
  return begun === 0 ? percentage : ramp[begun - 1]!.percentage
}

function readRamp(path: string, value: unknown, fail: Fail): RampStep[] | undefined {
  let latest = -1
  return readArray(path, value, MAX_STEPS, fail, (stepPath, given) => {
    const fields = readFields(stepPath, given, STEP.properties, fail)
    if (fields === undefined) return undefined
    const at = readTime(`${stepPath}.at`, fields.get('at'), fail)
    const percentage = readShare(`${stepPath}.percentage`, fields.get('percentage'), fail)
    if (at !== undefined && at <= latest) fail(`${stepPath}.at`, 'must be after the step before it')
    if (at !== undefined) latest = at
    return at === undefined || percentage === undefined ? undefined : { at, percentage }
  })
}

const percent = (share: number): string => `${Number((share * 100).toFixed(6))} %`
