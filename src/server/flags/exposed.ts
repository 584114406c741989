import { invalid } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { Flags } from '../../guards/allowlist/flags/flags.js'

/** Lists that one bulk evaluation evaluates. */
export const MAX_EVALUATED = 1_000
const REREAD_MS = 5_000

/** The lists that `flags.exposed` names. Those of a prefix are read from the store when somebody asks, every 5 s at most. */
export class ExposedFlags {
  private readonly ids: readonly string[]
  private readonly prefixes: readonly string[]
  private found: readonly string[] | undefined
  private readAtMs = Number.NEGATIVE_INFINITY
  private reading: Promise<readonly string[]> | undefined

  constructor(
    private readonly flags: Flags,
    exposed: readonly string[],
    /** More lists match than are evaluated. */
    private readonly onTooMany: () => void,
  ) {
    if (exposed.length > MAX_EVALUATED) {
      throw invalid('flags.exposed', `must not have more than ${MAX_EVALUATED} entries`)
    }
    this.ids = exposed.filter((name) => !name.endsWith('*')).map((id) => plainName('flags.exposed', id))
    const prefixes = exposed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
    this.prefixes = prefixes.map((prefix) => prefix && plainName('flags.exposed', prefix))
  }

  /** In the order of the setting; lists of a prefix by id. */
  all(): readonly string[] | Promise<readonly string[]> {
    if (this.prefixes.length === 0) return this.ids
    if (performance.now() - this.readAtMs < REREAD_MS) return this.found!
    const reading = (this.reading ??= this.read())
    // While they are read again, the former ones are good enough.
    return this.found ?? reading
  }

  private async read(): Promise<readonly string[]> {
    try {
      const found = new Set(this.ids)
      for (const prefix of this.prefixes) {
        for (const id of await this.flags.idsWith(prefix, MAX_EVALUATED + 1)) found.add(id)
        if (found.size > MAX_EVALUATED) break
      }
      if (found.size > MAX_EVALUATED) this.onTooMany()
      this.found = [...found].slice(0, MAX_EVALUATED)
      return this.found
    } catch (error) {
      if (this.found === undefined) throw error
      return this.found
    } finally {
      this.readAtMs = this.found === undefined ? Number.NEGATIVE_INFINITY : performance.now()
      this.reading = undefined
    }
  }
}
