import { parseArgs } from 'node:util'

/** Arguments such as `--rounds 5`, all of them numbers, with their defaults. */
export function numberArguments<Name extends string>(
  defaults: Record<Name, number>,
): { values: Record<Name, number>; positionals: string[] } {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }]))
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const given = Object.entries(values).map(([name, text]) => {
    const value = Number(String(text).replaceAll('_', ''))
    if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number`)
    return [name, value]
  })
  return { values: { ...defaults, ...Object.fromEntries(given) }, positionals }
}
