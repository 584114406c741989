import { CODES, MESSAGES } from './pt-BR/server.js'

/** The server speaks English. Whoever reads another language gets its sentences in that, as far as they are known. */
let isPortuguese = false

export function speakAs(language: string): void {
  isPortuguese = language === 'pt-BR'
}

/** What is wrong with one field. */
export function fieldWords(message: string): string {
  if (!isPortuguese) return message
  for (const [pattern, words] of MESSAGES) {
    if (pattern.test(message)) return message.replace(pattern, words)
  }
  return message
}

/** Several faults, each behind the name of its field: `customerId must be …; metadata must be …`. */
export function faultWords(text: string): string {
  if (!isPortuguese) return text
  return text
    .split('; ')
    .map((fault) => {
      const [, name, message] = /^(\S+) (.*)$/.exec(fault) ?? []
      return name === undefined ? fault : `${name === 'row' ? 'a linha' : name} ${fieldWords(message!)}`
    })
    .join('; ')
}

/** What a problem says as a whole. */
export function problemWords(code: string, message: string): string {
  const known: Partial<Record<string, string>> = CODES
  const words = isPortuguese ? known[code] : undefined
  if (words === undefined) return message
  return words.endsWith(':') ? `${words} ${message}` : words
}
