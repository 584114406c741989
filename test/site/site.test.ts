import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const load = (name: string) => import(new URL(`../../../site/${name}.mjs`, import.meta.url).href)
const { brokenInSite } = await load('built-links')
const { headingsOf, isLocal, linksOf } = await load('markdown')
const { FOLDERS, SECTIONS } = await load('sections')
const { stage } = await load('stage')
const { differences, translatedPages } = await load('translations')

const scratch = mkdtempSync(join(tmpdir(), 'catraca-site-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('translations', () => {
  it('have the headings, the code and the links of the English pages', () => {
    const pages: string[] = ['README.md', ...translatedPages(root)]
    assert.ok(pages.includes('docs/guides/locks.md'), 'the guides are among them')
    assert.deepEqual(
      pages.flatMap((page) => differences(root, page)),
      [],
    )
  })

  it('are told from pages that drifted', () => {
    const folder = join(scratch, 'drifted')
    mkdirSync(join(folder, 'docs/pt-BR'), { recursive: true })
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
    write('docs/a.md', '# A\n\n## B\n\n[b](#b) [c](c.md)\n\n```sh\nls\n```\n')
    write('docs/c.md', '# C\n')
    write('docs/pt-BR/c.md', '# C em português\n')
    const differs = (text: string): string[] => {
      write('docs/pt-BR/a.md', text)
      return differences(folder, 'docs/a.md')
    }
    assert.deepEqual(differs('# Á\n\n## Bê\n\n[b](#bê) [c](c.md)\n\n```sh\nls\n```\n'), [])
    assert.match(differs('# Á\n\n[b](#á) [c](c.md)\n\n```sh\nls\n```\n')[0]!, /headings/)
    assert.match(differs('# Á\n\n## Bê\n\n[b](#bê) [c](c.md)\n\n```sh\nls -l\n```\n')[0]!, /code/)
    assert.match(
      differs('# Á\n\n## Bê\n\n[b](#b) [c](c.md)\n\n```sh\nls\n```\n')[0]!,
      /links.*does not exist/,
    )
    assert.match(differs('# Á\n\n## Bê\n\n[b](#bê) [c](../c.md)\n\n```sh\nls\n```\n')[0]!, /translation/)
  })
})

describe('pages of the site', () => {
  const folder = join(scratch, 'staged')
  stage(root, folder)
  const pages = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
  const anchors = new Map(
    pages.map((page) => [
      page,
      headingsOf(readFileSync(join(folder, page), 'utf8')).map((one: { anchor: string }) => one.anchor),
    ]),
  )

  it('lead to pages and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      (linksOf(readFileSync(join(folder, page), 'utf8')) as string[]).flatMap((link) => {
        if (!isLocal(link) || link.startsWith('/images/')) return []
        const [target = '', anchor] = link.split('#')
        const found = anchors.get(target === '' ? page : join(page, '..', target))
        if (found === undefined) return [`${page}: ${link}`]
        return anchor === undefined || found.includes(anchor) ? [] : [`${page}: ${link} (no such heading)`]
      }),
    )
    assert.deepEqual(broken, [])
  })

  it('are all in the side bar, which names no others', () => {
    const named: string[] = SECTIONS.flatMap(({ pages }: { pages: [string][] }) =>
      pages.map(([page]) => page),
    )
    const english = pages.map((page) => page.slice(0, -3)).filter((page) => !page.startsWith('pt-BR/'))
    const inFolder = (page: string) => FOLDERS.some((folder: string) => page.startsWith(folder))
    const missing = english.filter((page) => !named.includes(page) && !inFolder(page))
    assert.deepEqual(missing, [], 'add them to site/sections.mjs')
    const unknown = named.filter((page) => page !== 'api/index' && !english.includes(page))
    assert.deepEqual(unknown, [])
  })

  it('exist in both languages', () => {
    const english = pages.filter((page) => !page.startsWith('pt-BR/'))
    assert.ok(english.length > 100, `${english.length} pages`)
    assert.deepEqual(
      english.filter((page) => !anchors.has(join('pt-BR', page))),
      [],
    )
  })
})

describe('links of a built site', () => {
  it('are told broken when the page, the heading or the file does not exist, or the host is another', () => {
    const folder = join(scratch, 'built')
    mkdirSync(join(folder, 'guides'), { recursive: true })
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
    write('a.css', '')
    write('index.html', '<link rel="x" href="/docs/a.css"><a href="/docs/guides/b.html#é">b</a><h1 id="x">')
    write('guides/b.html', '<a href="../#x"></a><h1 id="é"></h1><a href="https://example.com/">e</a>')
    assert.deepEqual(brokenInSite(folder, '/docs/'), [])
    write(
      'index.html',
      '<script src="https://cdn.example/x.js"></script><a href="/docs/guides/b.html#z">b</a>',
    )
    write('guides/b.html', '<a href="c.html">c</a><a href="/elsewhere.html">d</a>')
    assert.deepEqual(brokenInSite(folder, '/docs/').sort(), [
      'guides/b.html: /elsewhere.html is outside of the site',
      'guides/b.html: c.html does not exist',
      'index.html: /docs/guides/b.html#z has no such heading',
      'index.html: https://cdn.example/x.js is on another host',
    ])
  })
})
