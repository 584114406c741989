/** As the server counts them: a separator at the end of a row loses nothing. */
export function countExtra(rows: readonly string[][]): number {
  const width = rows[0]?.length ?? 0
  return rows.filter((row) => row.slice(width).some((cell) => cell !== '')).length
}

const QUOTED = /"((?:[^"]|"")*)"?/y
const UNTIL_ANY = /[^\n,;\t]*/y

/** As the server reads CSV: `,` `;` or tab, whichever comes first; blank rows do not count. */
export function parseRows(text: string): string[][] {
  const rows: string[][] = []
  let separator: string | undefined
  let plain = UNTIL_ANY
  let cells: string[] = []
  let at = 0
  while (at < text.length) {
    const pattern = text[at] === '"' ? QUOTED : plain
    pattern.lastIndex = at
    const [whole, inside] = pattern.exec(text)!
    cells.push(inside === undefined ? whole.trim() : inside.replaceAll('""', '"'))
    at += whole.length
    if (text[at] === '\r') at++
    const end = text[at++]
    if (end === '\n' || end === undefined) {
      if (cells.some((cell) => cell !== '')) rows.push(cells)
      else if (rows.length === 0) {
        separator = undefined
        plain = UNTIL_ANY
      }
      cells = []
    } else if (separator === undefined) {
      separator = end
      plain = new RegExp(`[^\n${end}]*`, 'y')
    }
  }
  return rows
}
