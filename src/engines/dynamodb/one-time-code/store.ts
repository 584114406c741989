import type {
  Attempt,
  AttemptOutcome,
  CodeKey,
  CodeStore,
  NewCode,
  PendingCode,
} from '../../../guards/one-time-code/port.js'
import { type Item, number, numberOf, optionalText, text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

const VERB = 'codes'

/** The address comes last, and the purpose is in a separate key: neither can be taken for the other. */
const codeKey = ({ channel, address, purpose }: CodeKey): Key =>
  keyOf(`${PARTITION.code}${channel}#${address}`, `PURPOSE#${purpose}`)

/**
 * The hash of a code is an attribute name, so that one update can count the attempt and remove the hash if the guess
 * is right. The old attributes show which it was, to one caller only. The attribute `digest` stays, and distinguishes
 * a repeated right code from a wrong one.
 */
const HASH_PREFIX = 'hash#'
const hashName = (digest: string): string => HASH_PREFIX + digest

/** One item per code in the table for guards. Conditions check its expiry, and TTL deletes it some time later. */
export class DynamodbCodes implements CodeStore {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    /** The caller's time, corrected by DynamoDB's clock: processes must agree when a code expires. */
    private readonly time: (now: number) => number,
  ) {}

  async put(key: CodeKey, { salt, digest, lifeMs }: NewCode, now: number): Promise<{ expiresAt: number }> {
    const expiresAt = this.time(now) + lifeMs
    await this.client.putItem(VERB, {
      TableName: this.table,
      Item: {
        ...codeKey(key),
        salt: text(salt),
        [hashName(digest)]: number(1),
        digest: text(digest),
        attempts: number(0),
        expiresAt: number(expiresAt),
        ttl: number(Math.ceil(expiresAt / 1000)),
      },
    })
    return { expiresAt }
  }

  async salt(key: CodeKey, now: number): Promise<string | undefined> {
    const item = await this.read(key)
    return isLiving(item, this.time(now)) ? optionalText(item, 'salt') : undefined
  }

  async peek(key: CodeKey, now: number): Promise<PendingCode | undefined> {
    const item = await this.read(key)
    if (!isPending(item, this.time(now))) return undefined
    return { expiresAt: numberOf(item, 'expiresAt'), attempts: numberOf(item, 'attempts') }
  }

  async revoke(key: CodeKey, now: number): Promise<boolean> {
    const input = { TableName: this.table, Key: codeKey(key), ReturnValues: 'ALL_OLD' } as const
    const { item } = await this.client.deleteItem(VERB, input)
    return isPending(item, this.time(now))
  }

  private read(key: CodeKey): Promise<Item | undefined> {
    return this.client.readItem(VERB, this.table, codeKey(key))
  }

  async attempt(key: CodeKey, { salt, digests, maxAttempts }: Attempt, now: number): Promise<AttemptOutcome> {
    const at = this.time(now)
    const expression = new Expression()
    const attempts = expression.name('attempts')
    expression
      .when(
        expression.equals('salt', text(salt)),
        `${expression.name('expiresAt')} > ${expression.value(number(at))}`,
        `${attempts} < ${expression.value(number(maxAttempts))}`,
      )
      .add({ attempts: 1 })
      .remove(...digests.map(hashName))
    const result = await this.client.updateItem(
      VERB,
      { TableName: this.table, Key: codeKey(key), ReturnValues: 'ALL_OLD', ...expression.update() },
      { repeatable: false },
    )
    const { item } = result
    if (result.applied && digests.some((digest) => item?.[hashName(digest)] !== undefined)) return 'match'
    if (isLiving(item, at) && item.salt?.S === salt && isUsed(item, digests)) return 'used'
    if (result.applied) return 'wrong'
    const isReplaced = isLiving(item, at) && item.salt?.S !== salt && numberOf(item, 'attempts') < maxAttempts
    return isReplaced ? 'replaced' : 'wrong'
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }
}

function isLiving(item: Item | undefined, now: number): item is Item {
  return item !== undefined && numberOf(item, 'expiresAt') > now
}

/** After a code was used, its item stays without the hash. */
const hasHash = (item: Item): boolean => Object.keys(item).some((name) => name.startsWith(HASH_PREFIX))

function isPending(item: Item | undefined, now: number): item is Item {
  return isLiving(item, now) && hasHash(item)
}

function isUsed(item: Item, digests: readonly string[]): boolean {
  return !hasHash(item) && digests.some((digest) => item.digest?.S === digest)
}
