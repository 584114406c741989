import { readFileSync } from 'node:fs'

/** The text of a script. `scripts/bundle-processes.mjs` puts all texts into the bundles in place of this. */
export function luaText(name: string): string {
  return readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8').trimEnd()
}
