/** Besides characters that end a cell: surrounding space, which a reader may trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/

export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheets run cells that begin like this, also after space that they trim. An apostrophe makes the cell text. */
export function spreadsheetCell(text: string): string {
  return csvCell(/^\s*[=+\-@]/.test(text) ? `'${text}` : text)
}
