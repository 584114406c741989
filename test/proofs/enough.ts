import assert from 'node:assert/strict'

type Figures = Record<string, number>

/**
 * Runs a proof for so many seconds, and for longer ones while too little was done to prove anything: how much that is
 * depends on the machine. A proof throws when a promise is broken, which is never tried again.
 */
export async function enough(
  seconds: number,
  proof: (seconds: number) => Promise<Figures>,
  least: Figures,
): Promise<void> {
  for (let factor = 1; ; factor *= 3) {
    const figures = await proof(factor * seconds)
    const missing = Object.keys(least).filter((name) => !(figures[name]! > least[name]!))
    if (missing.length === 0) return
    assert.ok(factor < 50, `${missing}: ${JSON.stringify(figures)}`)
  }
}
