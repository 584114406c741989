import { type Check, type CheckResult, ok, problem, warning } from '../../../core/diagnosis.js'
import { PREFIX } from '../keys.js'
import { definedScripts } from '../link/script.js'
import { ofEach, type RedisFacts } from './context.js'

/** Limits of the scan over all servers: a sample, not a full count. */
const MOST_KEYS = 20_000
const MOST_MS = 2000
const SCANNED_AT_ONCE = 1000
const SLOW_ENTRIES = 10
const RECENT_SECONDS = 3600

const { limits, codes, locks, idempotency, tokens, cache } = PREFIX

/** Keys that must expire, by the guard that writes them; see the README of the engine. */
const EXPIRING = Object.entries({
  'rate limits': `${limits}:[^:]+:[^:]+$|\\{${limits}:[^:]+:[^:]+\\}:(log|lease|usage|\\d+)\\b`,
  'one-time codes': `${codes}:`,
  locks: `${locks}:|\\{${locks}:.+\\}:(fence|waiting)$`,
  idempotency: `${idempotency}:|\\{${idempotency}:.+\\}:state$`,
  'revoked tokens': `${tokens}:`,
  cache: `\\{.+\\}:fill$|\\{${cache}:tag:.+\\}:mark$`,
}).map(([kind, form]) => [kind, new RegExp(`^(${form})`)] as const)

export const expiryCheck: Check<RedisFacts> = {
  id: 'redis.expiry',
  expects: 'Keys that should expire have a TTL.',
  remedy:
    'Find what wrote them (another program, `PERSIST`, a restore), and delete them or set a TTL: they never expire, and a lock or record among them blocks for ever.',
  run: (context) => ofEach(context, ({ address }) => lookForEver(context, address)),
}

async function lookForEver(
  { redis, cacheSpaces, servers }: RedisFacts,
  address: string,
): Promise<CheckResult> {
  const mostKeys = MOST_KEYS / servers.length
  const spaces = cacheSpaces.map((space) => `${space}:`)
  const kindOf = (key: string): string | undefined =>
    EXPIRING.find(([, form]) => form.test(key))?.[0] ??
    (spaces.some((space) => key.startsWith(space)) ? 'cache' : undefined)
  const endless = new Map<string, number>()
  const endsMs = performance.now() + MOST_MS / servers.length
  let [cursor, seen] = ['0', 0]
  do {
    const [next, keys] = (await redis.readAt(address, [
      'SCAN',
      cursor,
      'COUNT',
      String(SCANNED_AT_ONCE),
    ])) as [string, string[]]
    ;[cursor, seen] = [next, seen + keys.length]
    const ours = keys.flatMap((key) => ({ key, kind: kindOf(key) })).filter(({ kind }) => kind !== undefined)
    const lives = await Promise.all(ours.map(({ key }) => redis.readAt(address, ['PTTL', key])))
    for (const [i, { kind }] of ours.entries()) {
      if (Number(lives[i]) === -1) endless.set(kind!, (endless.get(kind!) ?? 0) + 1)
    }
  } while (cursor !== '0' && seen < mostKeys && performance.now() < endsMs)
  const extent = cursor === '0' ? `all ${seen} keys` : `a sample of ${seen} keys`
  // Key names contain addresses of customers, so only the kinds are reported.
  const told = [...endless].map(([kind, count]) => `${count} of ${kind}`).join(', ')
  return endless.size === 0
    ? ok(`none without, in ${extent}`)
    : warning(`without a TTL, in ${extent}: ${told}`)
}

export const olderKeysCheck: Check<RedisFacts> = {
  id: 'redis.older-keys',
  expects: 'There is no index of lists by customer, which only version 0.1.0 uses.',
  remedy: `When no process of 0.1.0 runs any more, delete the keys \`${PREFIX.customer}:*\` (\`redis-cli --scan\` and \`UNLINK\`): they take nearly half of the memory of memberships.`,
  run: (context) =>
    ofEach(context, async ({ address }) => {
      let [cursor, looked] = ['0', 0]
      do {
        const args = ['SCAN', cursor, 'MATCH', `${PREFIX.customer}:*`, 'COUNT', String(SCANNED_AT_ONCE)]
        const [next, keys] = (await context.redis.readAt(address, args)) as [string, string[]]
        if (keys.length > 0) return warning('there are keys of that index')
        cursor = next
        looked += SCANNED_AT_ONCE
      } while (cursor !== '0' && looked < MOST_KEYS)
      return ok(cursor === '0' ? 'none' : `none in a sample of ${looked} keys`)
    }),
}

export const slowLogCheck: Check<RedisFacts> = {
  id: 'redis.slow-log',
  expects: 'The slow log has no entry of the last hour.',
  remedy:
    'Look at the slow commands: a script of Catraca may need smaller batches or more shards; `KEYS` and similar commands come from other programs.',
  run: (context) =>
    ofEach(context, async ({ address }) => {
      const entries = (await context.redis.readAt(address, ['SLOWLOG', 'GET', String(SLOW_ENTRIES)])) as [
        number,
        number,
        number,
        string[],
      ][]
      const since = context.now() / 1000 - RECENT_SECONDS
      const recent = entries.filter(([, at]) => at >= since)
      const told = recent.map(([, , micros, words]) => `${nameOf(words)} ${(micros / 1000).toFixed(1)} ms`)
      return told.length === 0
        ? ok('nothing in the last hour')
        : warning(`in the last hour: ${told.join(', ')}`)
    }),
}

/** A script by its name, any other by its command: arguments contain customer data. */
function nameOf([command = '', second = '']: string[]): string {
  const name = command.toUpperCase().replace(/[^A-Z_]/g, '')
  const script = name.startsWith('EVALSHA') ? definedScripts().get(second)?.name : undefined
  return script === undefined ? name : `script ${script}`
}

export const scriptCheck: Check<RedisFacts> = {
  id: 'redis.scripts',
  expects: 'The server accepts the Lua scripts of Catraca.',
  remedy: 'Allow `SCRIPT LOAD`, `EVALSHA` and `EVALSHA_RO` to this user.',
  run: (context) =>
    ofEach(context, async ({ address }) => {
      const scripts = [...definedScripts()]
      const refused: string[] = []
      const loads = scripts.map(async ([sha, { name, source }]) => {
        const told = await context.redis.readAt(address, ['SCRIPT', 'LOAD', source]).catch(() => undefined)
        if (told !== sha) refused.push(name)
      })
      await Promise.all(loads)
      if (refused.length > 0) return problem(`refused: ${refused.sort().slice(0, 5).join(', ')}`)
      return ok(`${scripts.length} scripts are loaded`)
    }),
}
