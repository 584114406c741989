import type { Finding } from '../../src/core/diagnosis.js'

/** The worst level of each check. */
export function levelsOf(findings: readonly Finding[]): Record<string, Finding['level']> {
  const worst = ['skipped', 'ok', 'warning', 'problem']
  const levels: Record<string, Finding['level']> = {}
  for (const { id, level } of findings) {
    if (worst.indexOf(level) >= worst.indexOf(levels[id] ?? 'skipped')) levels[id] = level
  }
  return levels
}

export const foundBy = (findings: readonly Finding[], id: string): string =>
  findings
    .filter((one) => one.id === id)
    .map(({ found }) => found)
    .join('\n')
