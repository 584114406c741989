// Generates deploy/kubernetes from the Helm chart, for users without Helm, and copies the alert rules into the chart,
// because a chart can only read its own files. Needs the compiled tests: npm run build.
import { copyFileSync, writeFileSync } from 'node:fs'

const { examples, manifestText, manifestUrl } = await import('../dist/test/support/helm.js')
const deploy = new URL('../deploy/', import.meta.url)
copyFileSync(
  new URL('prometheus/catraca.rules.yml', deploy),
  new URL('helm/catraca/files/catraca.rules.yml', deploy),
)
for (const name of examples) writeFileSync(manifestUrl(name), manifestText(name))
