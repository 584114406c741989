import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Colours are judged when nothing moves any more. What turns for ever does not change colours, and what is taken away while
 * it moves may never tell its end.
 */
const STAND_STILL = `(async () => {
  const moving = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  const ended = Promise.allSettled(moving.map(({ finished }) => finished))
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 3000))])
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
})()`
/** What is behind a dialog is not shown to anybody, and was judged when it was. */
const RUN_AXE = `axe
  .run(document.querySelector('[aria-modal=true]') ?? document, { resultTypes: ['violations'] })
  .then(({ violations }) => violations)`

/** Fails when the page has faults of moderate impact or above. Evaluated by the debugger, which no policy of the page hinders. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(STAND_STILL)
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource)
  const violations = (await page.evaluate(RUN_AXE)) as Violation[]
  const faults = violations
    .filter(({ impact }) => impact !== 'minor')
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
    )
  assert.deepEqual(faults, [], 'accessibility')
}
