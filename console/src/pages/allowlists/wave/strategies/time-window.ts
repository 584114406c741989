import type { StrategyForm } from './form.js'

const HOUR_MS = 3_600_000

export const timeWindow: StrategyForm<object> = {
  first: (now) => ({ startTime: Math.ceil((now + 24 * HOUR_MS) / HOUR_MS) * HOUR_MS }),
  empty: {},
  draftOf: () => ({}),
  ruleOf: () => ({}),
  problemsOf: ({ start, end }, texts) =>
    start.value === undefined && end.value === undefined ? { start: texts.windowMissing } : {},
  Fields: () => null,
  rows: () => [],
}
