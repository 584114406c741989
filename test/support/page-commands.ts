/** Shell blocks of Markdown pages, and what their lines use of curl and of a shell. Not every machine that runs the tests has curl. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Lines of the shell blocks of a page, continued ones joined, without comments. */
export function shellLines(page: string): string[] {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]!)
  return blocks
    .flatMap((block) => block.replaceAll(/ \\\n */g, ' ').split('\n'))
    .map((line) => line.replace(/ +# .*$/, ''))
    .filter((line) => line !== '')
}

/** Splits a line as a shell does: quotes of both kinds, nothing else. */
export function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/((?:'[^']*'|"[^"]*"|[^\s'"])+)/g)].map((match) => match[1]!)
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

/** Runs a curl line, and returns the body. Fails if the status is no success. */
export async function curl(line: string, cwd: string): Promise<string> {
  const words = wordsOf(line).slice(1)
  const headers: Record<string, string> = {}
  let [method, url, body] = ['GET', '', undefined as string | undefined]
  while (words.length > 0) {
    const word = words.shift()!
    if (word === '-X') method = words.shift()!
    // They change what curl prints, not what it asks.
    else if (/^-[si]+$/.test(word)) continue
    else if (word === '-d') body = words.shift()!
    else if (word === '--data-binary')
      body = readFileSync(join(cwd, words.shift()!.replace(/^@/, '')), 'utf8')
    else if (word === '-H') {
      const [name, value] = words.shift()!.split(': ')
      headers[name!] = value!
    } else if (word.startsWith('http:') && url === '') url = word
    else throw new Error(`curl ${word} is not known here`)
  }
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${line}\n${response.status} ${text}`)
  return text
}
