import { readFileSync } from 'node:fs'

const manifest = new URL('../../../package.json', import.meta.url)

/** The version of the package, from its manifest. */
export const version: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
