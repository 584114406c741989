/** Where the string that begins at `start` in a JSON text has its closing quote; the length of the text if it has none. */
export function endOfString(text: string, start: number): number {
  for (let i = start + 1; ; i++) {
    i = text.indexOf('"', i)
    if (i < 0) return text.length
    let escapes = 0
    while (text[i - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return i
  }
}
