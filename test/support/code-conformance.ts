import { after, describe, it } from 'node:test'
import {
  auditSuites,
  codeSuites,
  type Pair,
  register,
  sessionSuites,
  tokenSuites,
} from '../../src/conformance/index.js'
import { openDynamodb } from '../../src/engines/dynamodb/index.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import type { SessionStore } from '../../src/guards/access/sessions/port.js'
import type { AuditStore } from '../../src/guards/audit/port.js'
import type { CodeStore } from '../../src/guards/one-time-code/port.js'
import type { TokenStore } from '../../src/guards/token-denylist/port.js'
import type { Choose } from './dynamodb-conformance.js'
import { CREDENTIALS, type DynamoServer, PATIENCE } from './dynamodb-server.js'

/** What the suites here need of an opened engine, whichever it is. */
interface CodeEngine {
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  readonly sessions: SessionStore
  close(): Promise<void>
}

/** Registers the suites of one-time codes, of revoked tokens, of the audit trail and of sessions; `open` opens one empty store twice. */
function codeConformance(
  name: string,
  open: () => Promise<readonly CodeEngine[]>,
  choose: Choose = (suite) => suite,
): void {
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
  for (const suite of codeSuites) register(runner, name, choose(suite), () => openPair(({ codes }) => codes))
  for (const suite of tokenSuites)
    register(runner, name, choose(suite), () => openPair(({ tokens }) => tokens))
  for (const suite of auditSuites) register(runner, name, choose(suite), () => openPair(({ audit }) => audit))
  for (const suite of sessionSuites)
    register(runner, name, choose(suite), () => openPair(({ sessions }) => sessions))
}

export async function codeConformanceOnDynamodb(server: DynamoServer, choose?: Choose): Promise<void> {
  const shared = await server.emptyTables(['allowlists', 'giant'])
  const open = async () => {
    // A case needs an empty table for guards, and looks at no other.
    const { guards } = await server.emptyTables(['guards'])
    const url = parseStoreUrl(server.url({ ...shared, guards })) as DynamodbUrl
    const options = { ...PATIENCE, credentials: CREDENTIALS, probeIntervalMs: 0, checkTables: false } as const
    const openOne = () => openDynamodb(url, { ...options, limitClock: 'caller' })
    return Promise.all([openOne(), openOne()])
  }
  codeConformance(server.emulator, open, choose)
}
