import { CODES, MESSAGES } from './pt-BR/server.js'

/** The server writes English. For another language, known messages are translated. */
let isPortuguese = false

export function speakAs(language: string): void {
  isPortuguese = language === 'pt-BR'
}

/** Translates the error of one field. */
export function fieldWords(message: string): string {
  if (!isPortuguese) return message
  for (const [pattern, words] of MESSAGES) {
    if (pattern.test(message)) return message.replace(pattern, words)
  }
  return message
}

/** Translates several errors, each after the name of its field: `customerId must be …; metadata must be …`. */
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

/** Translates the message of a problem. */
export function problemWords(code: string, message: string): string {
  const known: Partial<Record<string, string>> = CODES
  const words = isPortuguese ? known[code] : undefined
  if (words === undefined) return message
  return words.endsWith(':') ? `${words} ${message}` : words
}
