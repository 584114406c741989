import { after, describe, it } from 'node:test'
import type { AuditStore } from '../../src/audit/port.js'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { auditSuites, codeSuites, type Pair, register, tokenSuites } from '../../src/conformance/index.js'
import { openDynamodb } from '../../src/engines/dynamodb/index.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import type { CodeStore } from '../../src/one-time-code/port.js'
import type { TokenStore } from '../../src/token-denylist/port.js'
import { CREDENTIALS, type Emulator, startDynamo } from './dynamodb-server.js'

/** What the suites here need of an opened engine, whichever it is. */
export interface CodeEngine {
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  close(): Promise<void>
}

/** Registers the suites of one-time codes, of revoked tokens and of the audit trail; `open` opens one empty store twice. */
export function codeConformance(name: string, open: () => Promise<readonly CodeEngine[]>): void {
  async function openPair<Port>(
    port: (engine: CodeEngine) => Port,
  ): Promise<Pair<Port> & { close(): Promise<void> }> {
    const engines = await open()
    const [one, two] = engines.map(port) as [Port, Port]
    return {
      one,
      two,
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }
  const runner = { describe, it, after }
  for (const suite of codeSuites) register(runner, name, suite, () => openPair(({ codes }) => codes))
  for (const suite of tokenSuites) register(runner, name, suite, () => openPair(({ tokens }) => tokens))
  for (const suite of auditSuites) register(runner, name, suite, () => openPair(({ audit }) => audit))
}

export async function codeConformanceOnDynamodb(emulator: Emulator): Promise<void> {
  const server = await startDynamo(emulator)
  const shared = server.names()
  await createTables(server.client().sdk, shared, ['allowlists', 'giant'])
  codeConformance(emulator, async () => {
    const names = { ...shared, guards: server.names().guards }
    await createTables(server.client().sdk, names, ['guards'])
    const url = parseStoreUrl(server.url(names)) as DynamodbUrl
    // A case needs an empty table for guards, and looks at no other.
    const options = { credentials: CREDENTIALS, probeIntervalMs: 0, checkTables: false } as const
    const open = () => openDynamodb(url, { ...options, limitClock: 'caller' })
    return Promise.all([open(), open()])
  })
}
