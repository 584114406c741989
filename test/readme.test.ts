import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Served, scratch, serve } from './cli/run.js'
import { curl, shellLines } from './support/page-commands.js'
import { markdownPages, root } from './support/pages.js'

const cliMain = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Links of a page that stay within the repository, without those in code. */
function relativeLinks(page: string): string[] {
  const prose = page
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]]/g, ''))
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
  return targets.filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** The anchors that a page offers: its headings, as GitHub spells them. */
function anchors(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map((match) => match[1]!)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function brokenLinks(file: string, page: string): string[] {
  return relativeLinks(page).filter((link) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? file : resolve(dirname(file), path)
    if (!existsSync(target)) return true
    return anchor !== undefined && !anchors(readFileSync(target, 'utf8')).includes(anchor)
  })
}

describe('README', () => {
  const lines = shellLines(read('README.md'))

  it('has the two commands that start and test a clean clone', () => {
    assert.ok(lines.includes('npm install && npm start'))
    assert.ok(lines.includes('npm install && npm test'))
  })

  it('says the same in Portuguese: the same blocks and tables; `test/site/` compares the links', () => {
    const [english, portuguese] = [read('README.md'), read('README.pt-BR.md')]
    const blocks = (page: string) => [...page.matchAll(/^```\w*\n[\s\S]*?^```$/gm)].map((match) => match[0])
    assert.deepEqual(blocks(portuguese), blocks(english))
    const rows = (page: string) => page.split('\n').filter((line) => line.startsWith('|')).length
    assert.equal(rows(portuguese), rows(english))
  })
})

describe('links', () => {
  it('lead somewhere, in every page', () => {
    const pages = markdownPages()
    assert.ok(pages.length > 20, `${pages.length} pages`)
    const broken = pages.flatMap((page) =>
      brokenLinks(join(root, page), read(page)).map((link) => `${page}: ${link}`),
    )
    assert.deepEqual(broken, [])
  })

  it('are found, and missed when they lead nowhere', () => {
    const page = '# A b\n[x](#a-b) [y](#c) [z](no-such.md) [w](https://example.com) `[v](code.md)` [r](./)'
    assert.deepEqual(brokenLinks(join(root, 'README.md'), page.replace('#a-b', 'README.md#limits')), [
      '#c',
      'no-such.md',
    ])
  })
})

describe('the quick start', () => {
  const directory = scratch()
  let server: Served
  before(async () => {
    server = await serve([], { cwd: directory.path })
  })
  after(async () => {
    await server.stop()
    directory.remove()
  })

  /** Runs a line as a reader would, but with the port and the build of this test. */
  async function run(line: string): Promise<string> {
    const command = line.replaceAll('http://127.0.0.1:8080', server.url)
    if (command.startsWith('curl ')) return curl(command, directory.path)
    const script = `npx() { shift; "${process.execPath}" "${cliMain}" "$@"; }\n${command}`
    const env = { PATH: process.env.PATH ?? '' }
    return (await promisify(execFile)('bash', ['-c', script], { cwd: directory.path, env })).stdout
  }

  it('does what it says, line by line', async () => {
    const lines = shellLines(read('README.md')).filter((line) => !line.startsWith('npm '))
    assert.ok(lines.some((line) => line.startsWith('curl ')) && lines.some((line) => line.startsWith('npx ')))
    const said = new Map<string, string>()
    for (const line of lines) said.set(line, await run(line))
    const outputOf = (part: string) => [...said].find(([line]) => line.includes(part))![1]

    const promised = /```json\n(.*)\n```/.exec(read('README.md'))![1]!
    const withoutTimes = (json: string) => json.replace(/"(checkedAt|addedAt)":"[^"]*"/g, '"$1":"…"')
    assert.equal(withoutTimes(outputOf('/customers/alice/check')), promised)
    assert.equal(JSON.parse(outputOf('/allowlists/vip/import')).added, 2)
    assert.match(outputOf('check alice carol'), /alice +vip +yes +FIXA +MEMBER/)
    assert.match(outputOf('npx catraca allowlist import'), /0 added, 2 unchanged/)
    assert.equal(outputOf('allowlist export'), 'alice\nbob\n')
    const lists = JSON.parse(outputOf('allowlist list --json')).items.map((list: { id: string }) => list.id)
    assert.deepEqual(lists, ['beta', 'vip'])
  })
})
