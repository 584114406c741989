import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { command, type Served, scratch, serve } from './cli/run.js'
import { curl, shellLines, wordsOf } from './support/page-commands.js'
import { markdownPages, root } from './support/pages.js'

const cliMain = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))

/** The lines of shell blocks that this test does not run, and why. Every entry is needed. */
const NOT_RUN: [line: RegExp, why: string][] = [
  [/^npm install( catraca)?( [@\w/-]+)*$/, 'scripts/compat/ installs the package and what it needs'],
  [
    /^npx catraca serve( --grpc-port 8081)?$/,
    'the server of this test; test/server/grpc/ has the second port',
  ],
  [/^npx catraca bench load --(url|rate)/, 'test/cli/load/ runs it with all its options'],
  [/openssl dgst/, 'test/server/logging.test.ts hashes the same'],
  [/^NODE_OPTIONS=/, 'needs a collector; test/app/ traces'],
  [/^catraca doctor --store redis:/, 'needs Redis: test/cli/doctor-redis.test.ts'],
  [/^catraca (dynamodb|allowlist reshard) /, 'needs DynamoDB: test/engines/dynamodb/service.test.ts'],
  [/^(docker|kubectl|helm) /, 'needs Docker or a cluster; test/deploy/ reads and renders the files'],
  [/^(redis-cli|journalctl|df|ls|cat) /, 'a program of the operator, asked about a machine of theirs'],
]

/** Pages whose lines other tests run. */
const ELSEWHERE: Record<string, string> = {
  'README.md': 'test/readme.test.ts',
  'examples/nestjs/README.md': 'scripts/compat/nestjs.mjs',
}

/** What a page takes from the pages before, or from the store of its reader. */
const BEFORE: [page: RegExp, lines: string[]][] = [
  [/guides\/audit/, ['catraca allowlist create --id wave --name Wave --type ONDA --percentage 10%']],
  [/guides\/http/, ['catraca allowlist create --id vip --name VIP --type FIXA']],
  [/^docs\/runbooks/, ['catraca allowlist create --id LIST --name List --type FIXA']],
  [
    /runbooks\/(limit-denials|degraded)/,
    [
      `catraca config set --level system --resource RESOURCE --limits '{"rpm":{"capacity":9,"refillPeriodSeconds":60}}'`,
    ],
  ],
  [
    /runbooks\/idempotency/,
    [
      `curl -X POST localhost:8080/idempotency/OPERATION/KEY -H 'content-type: application/json' -d '{"payload":1}'`,
    ],
  ],
]

/** Decisions show what was. Code is the same in the Portuguese pages; `test/site/` compares. */
const pages = markdownPages().filter((page) => !/^docs\/(adr|pt-BR)\/|pt-BR\.md$/.test(page))
const allLinesOf = (page: string) => shellLines(readFileSync(join(root, page), 'utf8'))
const linesOf = (page: string) =>
  page in ELSEWHERE ? [] : allLinesOf(page).filter((line) => !NOT_RUN.some(([pattern]) => pattern.test(line)))

describe('commands of the pages', () => {
  const directory = scratch()
  let server: Served
  /** The output of the lines before, from which a reader takes tokens and ids. */
  let said = ''

  before(async () => {
    server = await serve([], { cwd: directory.path })
    writeFileSync(directory.file('customers.csv'), 'customerId\nbob\ncarl\n')
    writeFileSync(directory.file('gone.csv'), 'customerId\ncarl\n')
    writeFileSync(directory.file('people.csv'), 'name,cpf\nDora,12345678909\n')
    writeFileSync(directory.file('customers.ndjson.gz'), gzipSync('{"customerId":"erin"}\n'))
    writeFileSync(directory.file('customers.txt.gz'), gzipSync('alice\nfinn\n'))
    writeFileSync(directory.file('respond-to-claim.sh'), '#!/bin/sh\ntest -n "$CATRACA_FENCE"\n')
    chmodSync(directory.file('respond-to-claim.sh'), 0o755)
    mkdirSync(directory.file('backups'))
    // What a clone has.
    cpSync(join(root, 'deploy/docker'), directory.file('deploy/docker'), { recursive: true })
    symlinkSync(join(root, 'bin'), directory.file('bin'))
  })
  after(async () => {
    await server.stop()
    directory.remove()
  })

  const token = () => [...said.matchAll(/"token": ?"([^"]+)"/g)].at(-1)?.[1]
  const importId = () => [...said.matchAll(/^import (\S+) of /gm)].at(-1)?.[1]

  /** The line as the reader of this test would type it: with this server, and with what the line before printed. */
  function filledIn(line: string): string {
    return (
      line
        .replaceAll(/(http:\/\/127\.0\.0\.1|localhost):8080/g, server.url)
        .replace(/\$CATRACA_URL|https:\/\/(catraca\.example|guards\.internal)/, server.url)
        .replace('--at-least TOKEN', `--at-least ${token()}`)
        .replace('IMPORT_ID', `${importId()}`)
        .replace('"token":"…"', `"token":"${token()}"`)
        .replace(/^(npx catraca key (?!generate).*)$/, '$1 --store embedded:./keys')
        .replaceAll('/backups/', './backups/')
        .replace('embedded:/var/lib/catraca', 'embedded:./catraca-data')
        // Keys go to a store of their own, so this server asks for none.
        .replace(/-H ['"]Authorization: [^'"]+['"] /, '')
        .replace(/ \| head$/, '')
    )
  }

  async function run(line: string): Promise<string> {
    if (line.startsWith('curl ')) return curl(line, directory.path)
    if (line.includes(' | ') || line.startsWith('sh ')) return inShell(line)
    const [, args] = /^(?:npx )?catraca (.*)$/.exec(line) ?? assert.fail(`cannot run: ${line}`)
    const { code, stdout, stderr } = await command(wordsOf(args!), { cwd: directory.path })
    assert.equal(code, 0, `${line}\n${stdout}${stderr}`)
    return `${stdout}${stderr}`
  }

  async function inShell(line: string): Promise<string> {
    const script = `npx() { shift; "${process.execPath}" "${cliMain}" "$@"; }\n${line}`
    const env = { PATH: process.env.PATH ?? '' }
    const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', script], { cwd: directory.path, env })
    return `${stdout}${stderr}`
  }

  /** Each page begins with an empty store. */
  async function empty(): Promise<void> {
    const { items } = JSON.parse(await curl(`curl ${server.url}/allowlists`, directory.path))
    for (const { id } of items) await run(`catraca allowlist delete ${id} --yes`)
  }

  it('are all run, here or where the tables say', () => {
    assert.deepEqual(
      Object.keys(ELSEWHERE).filter((page) => allLinesOf(page).length === 0),
      [],
    )
    const unneeded = NOT_RUN.filter(
      ([pattern]) => !pages.some((page) => allLinesOf(page).some((line) => pattern.test(line))),
    )
    assert.deepEqual(unneeded, [])
    // Commands in a block without a language would not be found.
    const unnamed = pages.filter((page) => {
      const fences = readFileSync(join(root, page), 'utf8').match(/^ *```.*$/gm) ?? []
      return fences.some((fence, i) => i % 2 === 0 && /^ *```$/.test(fence))
    })
    assert.deepEqual(unnamed, [], 'pages with a block of code that does not say its language')
  })

  for (const page of pages.filter((one) => linesOf(one).length > 0)) {
    // A line that does not end, such as a server, fails and does not keep the run.
    it(`${page}: every line works`, { timeout: 120_000 }, async () => {
      await empty()
      const created = new Set<string>()
      said = ''
      const before = BEFORE.flatMap(([pattern, lines]) => (pattern.test(page) ? lines : []))
      for (const line of [...before, ...linesOf(page)]) {
        const list = /allowlist create --id (\S+)/.exec(line)?.[1]
        // A page may begin anew in a later block.
        if (list !== undefined && created.has(list)) continue
        if (list !== undefined) created.add(list)
        said += await run(filledIn(line))
      }
    })
  }
})
