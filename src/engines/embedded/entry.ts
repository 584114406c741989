import { resolve } from 'node:path'
import type { EngineEntry } from '../registry-entry.js'
import type { EmbeddedOptions } from './options.js'
import { type EmbeddedUrl, parseEmbedded, parseMemory } from './url.js'

export const embeddedEntry: EngineEntry<EmbeddedUrl, Omit<EmbeddedOptions, 'directory'>> = {
  forms: ['embedded:DIRECTORY', 'memory:'],
  schemes: { embedded: parseEmbedded, memory: parseMemory },
  facts: ({ path }) => ({
    shown: path === undefined ? 'memory:' : `embedded:${path}`,
    isPrivate: path === undefined,
    startsThreads: true,
    keepsSecrets: true,
  }),
  resolve: (url) => (url.path === undefined ? url : { ...url, path: resolve(url.path) }),
  fields: {
    ...{
      durability: true,
      limitsDurability: true,
      maxSizeBytes: true,
      minFreeBytes: true,
      maxLogBytes: true,
    },
    ...{ cacheMaxBytes: true, writeTimeoutMs: true, gate: true, writes: true },
  },
  async open({ path }, options) {
    const { openEmbedded } = await import('./index.js')
    return openEmbedded({ ...options, ...(path !== undefined && { directory: path }) })
  },
  async diagnose({ path: directory }, options, _, where) {
    if (directory === undefined) return { findings: [], apiKeys: { count: 0, isLocked: false } }
    const { diagnoseEmbedded } = await import('./diagnose/index.js')
    return diagnoseEmbedded({ ...options, directory }, where)
  },
  checks: async () => (await import('./diagnose/index.js')).EMBEDDED_CHECKS,
}
