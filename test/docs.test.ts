import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { SETTINGS } from '../src/config/schema.js'
import { ERROR_CODES } from '../src/core/errors.js'
import { shellLines } from './support/page-commands.js'
import { markdownPages, root } from './support/pages.js'

const generator = fileURLToPath(new URL('../../scripts/generate-docs.mjs', import.meta.url))
const dist = fileURLToPath(new URL('..', import.meta.url))
const page = (name: string) =>
  readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8')

describe('reference pages', () => {
  it('are what the generator makes of the code', () => {
    const { status, stderr } = spawnSync(process.execPath, [generator, '--check', '--dist', dist], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('hold every setting and every error', () => {
    const config = page('config')
    for (const [path, { env }] of SETTINGS) {
      assert.ok(config.includes(`\`${path}\``) && config.includes(`\`${env}\``), path)
    }
    const errors = page('errors')
    for (const code of Object.keys(ERROR_CODES))
      assert.match(errors, new RegExp(`\`${code}\` +\\| [45]\\d\\d +\\|`))
  })

  it('show every command', () => {
    const cli = page('cli')
    for (const name of ['serve', 'check', 'allowlist import', 'allowlist ramp', 'key create'])
      assert.ok(cli.includes(`## catraca ${name}\n`), name)
  })
})

/** The part of the reference that is about a command, or about all commands whose names begin so. */
function sectionOf(words: string[]): string | undefined {
  const sections = page('cli').split(/^(?=## )/m)
  for (let count = Math.min(2, words.length); count > 0; count--) {
    const name = words.slice(0, count).join(' ')
    const found = sections.filter((section) => section.startsWith(`## catraca ${name}\n`))
    const group =
      count === words.length ? sections.filter((one) => one.startsWith(`## catraca ${name} `)) : []
    if (found.length + group.length > 0) return [sections[0], ...found, ...group].join('')
  }
  return words[0]?.startsWith('-') ? sections[0] : undefined
}

/** What is wrong with a command that a text names: `catraca lock status NAME`, `catraca config plan|apply`. */
function unknownIn(line: string): string[] {
  const [words = ''] = line.split(' -- ')
  const [, first = '', second = '', ...rest] = words.split(' ')
  return second.split('|').flatMap((one) => {
    const section = sectionOf([first, one, ...rest].filter(Boolean))
    if (section === undefined) return [line]
    const options = words.match(/(?<= )--[a-z-]+/g) ?? []
    return options.filter((option) => !section.includes(option)).map((option) => `${line}: ${option}`)
  })
}

describe('pages and examples', () => {
  const programs = readdirSync(join(root, 'examples'), { recursive: true })
    .map((name) => `examples/${name}`)
    .filter((name) => name.endsWith('.mjs') && !name.includes('node_modules'))
  // What was once the case may be gone.
  const current = [...markdownPages(), ...programs].filter((name) => !/^CHANGELOG|^docs\/adr\//.test(name))

  it('name only commands and options that exist', () => {
    let seen = 0
    const unknown = current.flatMap((name) => {
      const text = readFileSync(join(root, name), 'utf8')
      const quoted = [...text.matchAll(/`((?:npx )?catraca [^`]+)`/g)].map((match) => match[1]!)
      return [...quoted, ...shellLines(text)]
        .map((line) => line.replace(/^npx /, '').replaceAll(/\s+/g, ' '))
        .filter((line) => line.startsWith('catraca '))
        .flatMap((line) => {
          seen++
          return unknownIn(line).map((wrong) => `${name}: ${wrong}`)
        })
    })
    assert.deepEqual(unknown, [])
    assert.ok(seen > 200, `${seen} commands`)
  })

  it('are told from those that name others', () => {
    assert.deepEqual(unknownIn('catraca config plan|apply'), [])
    assert.deepEqual(unknownIn('catraca otp'), [])
    assert.deepEqual(unknownIn('catraca cache clear'), ['catraca cache clear'])
    assert.deepEqual(unknownIn('catraca lock run NAME --forever -- ls --all'), [
      'catraca lock run NAME --forever -- ls --all: --forever',
    ])
  })

  it('show JavaScript that is JavaScript, where they say so', async () => {
    for (const name of current) {
      const blocks = [...readFileSync(join(root, name), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)]
      for (const [, code] of blocks)
        await assert.doesNotReject(
          transform(code!, { loader: 'js', logLevel: 'silent' }),
          `${name}:\n${code}`,
        )
    }
  })
})
