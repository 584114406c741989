import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** What a sealed text is for: one kind is never taken for another. */
export type Purpose = 'pending' | 'tokens' | 'session' | 'cursor'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/**
 * Encrypts and signs with keys from one secret, which may be replaced while the server runs. `owner`: whose texts they are.
 * With another owner they do not open, even with the same secret.
 */
export class Seal {
  private known: { secret: string; keys: Map<string, Buffer> } | undefined

  constructor(
    private readonly secret: () => string,
    private readonly owner: readonly string[],
  ) {}

  /** `about`: what the text belongs to, such as the id of a session. It opens only with the same. */
  seal(purpose: Purpose, about: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.key(purpose), nonce).setAAD(Buffer.from(about))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
  }

  /** Undefined for what was not sealed with this secret, for this purpose, about this. */
  open(purpose: Purpose, about: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(ALGORITHM, this.key(purpose), nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([body, decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }

  sign(purpose: Purpose, text: string): string {
    return createHmac('sha256', this.key(purpose)).update(text).digest('base64url')
  }

  isSigned(purpose: Purpose, text: string, signature: string): boolean {
    const expected = Buffer.from(this.sign(purpose, text))
    const given = Buffer.from(signature)
    return expected.length === given.length && timingSafeEqual(expected, given)
  }

  private key(purpose: Purpose): Buffer {
    const secret = this.secret()
    if (this.known?.secret !== secret) this.known = { secret, keys: new Map() }
    const { keys } = this.known
    let key = keys.get(purpose)
    if (key === undefined) {
      const info = JSON.stringify([purpose, ...this.owner])
      key = Buffer.from(hkdfSync('sha256', secret, 'catraca sign-in', info, KEY_BYTES))
      keys.set(purpose, key)
    }
    return key
  }
}
