import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { codeConformance } from '../support/code-conformance.js'

codeConformance('embedded', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  const [one, two] = [openEmbedded({ directory }), openEmbedded({ directory })]
  return [
    one,
    {
      codes: two.codes,
      tokens: two.tokens,
      audit: two.audit,
      async close() {
        await two.close()
        rmSync(directory, { recursive: true, force: true })
      },
    },
  ]
})
