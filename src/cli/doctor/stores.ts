import { storeOf } from '../../config/load.js'
import type { Config } from '../../config/schema.js'
import type { Finding, KeysFound } from '../../core/diagnosis.js'
import { diagnoseStore, isSameStore, redactStoreUrl } from '../../engines/registry.js'
import { openOptions } from '../settings.js'

interface ConfiguredStore {
  url: string
  /** The capabilities whose data is there. */
  keeps: string[]
}

/** Every store that is configured, each once. */
function configuredStores(config: Config): ConfiguredStore[] {
  const stores: ConfiguredStore[] = []
  const note = (url: string, capability: string): void => {
    const known = stores.find((store) => isSameStore(store.url, url))
    if (known === undefined) stores.push({ url, keeps: [capability] })
    else known.keeps.push(capability)
  }
  for (const capability of Object.keys(config.stores) as (keyof Config['stores'])[]) {
    note(storeOf(config, capability), capability)
  }
  for (const url of config.locks.redlock.read()) note(url, 'locks')
  const hotTier = config.dynamodb.hotTier.read()
  if (hotTier !== undefined) note(hotTier, 'hot tier')
  return stores
}

/** Also reports the API keys, which are in the store of the allowlists. */
export async function diagnoseStores(config: Config): Promise<{ findings: Finding[]; apiKeys?: KeysFound }> {
  const options = openOptions(config, config.store)
  const cacheSpaces = config.cache.spaces.map(({ name }) => name)
  const findings: Finding[] = []
  let apiKeys: KeysFound | undefined
  for (const { url, keeps } of configuredStores(config)) {
    const hasAllowlists = keeps.includes('allowlists')
    const use = keeps.every((one) => one === 'cache') ? 'caches' : 'guards'
    const where = redactStoreUrl(url)
    const diagnosis = await diagnoseStore(url, where, options, { use, hasAllowlists, cacheSpaces })
    findings.push(...diagnosis.findings)
    if (hasAllowlists) apiKeys = diagnosis.apiKeys
  }
  return { findings, ...(apiKeys !== undefined && { apiKeys }) }
}
