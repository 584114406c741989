import type { Strategy } from './strategy.js'

/** Everybody. The window itself applies to every strategy. */
export const timeWindow: Strategy<object, undefined> = {
  fields: {},
  missing: (given) =>
    given.has('startTime') || given.has('endTime') ? undefined : ['startTime', 'or endTime is required'],
  compile: () => ({ admits: () => true }),
  step: undefined,
  facts: {},
  shareAt: () => 1,
  turns: () => [],
  flagReason: 'STATIC',
}
