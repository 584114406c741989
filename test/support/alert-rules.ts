import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export interface Rule {
  record?: string
  alert?: string
  expr: string
  for?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

const folder = new URL('../../../deploy/prometheus/', import.meta.url)
export const rulesFolder = fileURLToPath(folder)
export const readRulesFile = (name: string) => parse(readFileSync(new URL(name, folder), 'utf8'))

export function readRules(): { records: Rule[]; alerts: Required<Rule>[] } {
  const { groups } = readRulesFile('catraca.rules.yml') as { groups: { rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)
  return {
    records: rules.filter((rule) => rule.record !== undefined),
    alerts: rules.filter((rule): rule is Required<Rule> => rule.alert !== undefined),
  }
}

/** CatracaFeedLag → feed-lag */
export const pageOf = (alert: string): string =>
  alert
    .replace(/^Catraca/, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()
