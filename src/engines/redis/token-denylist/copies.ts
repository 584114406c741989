import type { Revocation } from '../../../guards/token-denylist/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { MARKS_KEY, SUBJECTS_KEY, subjectKey, TOKENS_KEY, tokenKey, UNCOPIED_KEY } from './keys.js'

const COPY = defineScript('token-copy', { keys: ['string'], write: true })
const REPAIRED_AT_ONCE = 200

/**
 * One key per revocation, each in its own slot, which expires. The script that revokes records what must be copied.
 * If a process dies before it has made the copy, the record remains and a sweep makes the copy.
 */
export class TokenCopies {
  constructor(private readonly redis: Redis) {}

  async make(revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return
    const made = await Promise.allSettled(revocations.map((one) => this.copy(one)))
    const copied = revocations.filter((_, i) => made[i]!.status === 'fulfilled')
    await this.forget(copied.map(({ kind, id }) => `${kind === 'token' ? 't' : 's'}:${id}`))
    const failed = made.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async repair(before: number): Promise<{ more: boolean }> {
    const args = [
      'ZRANGEBYSCORE',
      UNCOPIED_KEY,
      '-inf',
      String(before),
      'LIMIT',
      '0',
      String(REPAIRED_AT_ONCE),
    ]
    const noted = (await this.redis.read(UNCOPIED_KEY, args)) as string[]
    if (noted.length === 0) return { more: false }
    const found = await Promise.all(noted.map((note) => this.kept(note)))
    // Expired revocations need no copy.
    await this.forget(noted.filter((_, i) => found[i] === undefined))
    await this.make(found.filter((one) => one !== undefined))
    return { more: noted.length === REPAIRED_AT_ONCE }
  }

  private async forget(noted: readonly string[]): Promise<void> {
    if (noted.length > 0) await this.redis.write(UNCOPIED_KEY, ['ZREM', UNCOPIED_KEY, ...noted])
  }

  private async copy(one: Revocation): Promise<void> {
    if (one.kind === 'token') await this.redis.run(COPY, [tokenKey(one.id)], [String(one.expiresAt)])
    else await this.redis.run(COPY, [subjectKey(one.id)], [String(one.expiresAt), String(one.notBefore)])
  }

  private async kept(note: string): Promise<Revocation | undefined> {
    const id = note.slice(2)
    const isToken = note.startsWith('t:')
    const [expiresAt, notBefore] = (await this.redis.readInOrder(TOKENS_KEY, [
      ['ZSCORE', isToken ? TOKENS_KEY : SUBJECTS_KEY, id],
      ['HGET', MARKS_KEY, id],
    ])) as (string | number | null)[]
    if (expiresAt === null) return undefined
    if (isToken) return { kind: 'token', id, expiresAt: Number(expiresAt) }
    return { kind: 'subject', id, expiresAt: Number(expiresAt), notBefore: Number(notBefore ?? 0) }
  }
}
