import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { pageOf, readRules } from '../support/alert-rules.js'
import { knownMetrics, metricsIn, parseAll } from '../support/promql.js'

const folder = new URL('../../../docs/runbooks/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const { alerts, records } = readRules()
const names = [...new Set(alerts.map(({ alert }) => alert))]
const pages = readdirSync(folder).filter((name) => name !== 'README.md')

function blocks(page: string, language: string): string[] {
  const found = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
  return found.flatMap((match) => match[1]!.trim().split('\n'))
}

describe('runbooks', () => {
  it('are one for each alert, and no other, and the index has all', () => {
    assert.deepEqual(pages.sort(), names.map((name) => `${pageOf(name)}.md`).sort())
    const index = read('README.md')
    for (const name of names) {
      const severities = alerts.filter(({ alert }) => alert === name).map(({ labels }) => labels.severity)
      assert.ok(index.includes(`| [${name}](${pageOf(name)}.md) | ${severities.join(', ')} |`), name)
    }
  })

  it('say what it means, how to look, what to do and when it is over', () => {
    for (const name of names) {
      const headings = [...read(`${pageOf(name)}.md`).matchAll(/^#+ .*$/gm)].map(([line]) => line)
      assert.deepEqual(headings, [
        `# ${name}`,
        '## What it means',
        '## How to look',
        '## What to do',
        '## When it is over',
      ])
    }
  })

  it('ask Prometheus for what there is', () => {
    const expressions = pages.flatMap((name) => blocks(read(name), 'promql'))
    parseAll(expressions)
    const known = new Set([...knownMetrics(), ...records.map(({ record }) => record!)])
    assert.deepEqual(
      expressions.flatMap(metricsIn).filter((one) => !known.has(one)),
      [],
    )
  })
})
