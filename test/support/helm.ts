import { readdirSync, readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'
import { Templates } from './go-template.js'

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes have no types here.
export type Any = any

const deploy = new URL('../../../deploy/', import.meta.url)
const chart = new URL('helm/catraca/', deploy)
const read = (path: string) => readFileSync(new URL(path, chart), 'utf8')

export const defaults = (): Any => parse(read('values.yaml'))
export const valuesSchema = (): Any => JSON.parse(read('values.schema.json'))
export const chartFile = (): Any => parse(read('Chart.yaml'))
export const examples: string[] = readdirSync(new URL('ci/', chart)).map((name) => name.replace('.yaml', ''))
export const exampleValues = (name: string): Any => parse(read(`ci/${name}.yaml`))
export const manifestUrl = (name: string): URL => new URL(`kubernetes/${name}.yaml`, deploy)

/** Values over values, as Helm lays them: maps are merged, everything else is replaced. */
export function merge(under: Any, over: Any): Any {
  const isMap = (value: Any) => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(under) || !isMap(over)) return over === undefined ? under : over
  const names = new Set([...Object.keys(under), ...Object.keys(over)])
  return Object.fromEntries([...names].map((name) => [name, merge(under[name], over[name])]))
}

function renderText(over: Any, release: { name: string; service: string }): string {
  const templates = new Templates(read)
  const files = readdirSync(new URL('templates/', chart)).sort()
  for (const name of files) templates.add(name, read(`templates/${name}`))
  const { name: Name, version: Version, appVersion: AppVersion } = chartFile()
  const context = {
    Values: merge(defaults(), over),
    Chart: { Name, Version, AppVersion },
    Release: { Name: release.name, Service: release.service, Namespace: 'guards' },
  }
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => templates.render(file, context).trim())
    .filter((text) => text !== '')
    .join('\n---\n')
}

export function objectsOf(text: string): Any[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors[0]}\n${text}`)
    return document.toJS()
  })
}

export const render = (over: Any = {}): Any[] =>
  objectsOf(renderText(over, { name: 'blue', service: 'Helm' }))

/** The plain manifests: the chart with one of its examples. */
export const manifestText = (name: string): string =>
  `# Rendered from deploy/helm/catraca with ci/${name}.yaml by scripts/render-manifests.mjs: change those.\n${renderText(
    exampleValues(name),
    { name: 'catraca', service: 'kubectl' },
  )}\n`
