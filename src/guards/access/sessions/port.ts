/**
 * What sessions of people need of an engine: one record for each person, replaced only by whoever read it last. So all
 * rules (how many sessions, who renews one, which end) are decided in one place, and hold over all processes.
 */
export interface SessionStore {
  /** The record as it was last written, by any process. It may be past its end. */
  read(person: string): Promise<StoredSessions | undefined>
  /**
   * Replaces the record, or removes it if there is no `next`, if its version is still the one that was read (undefined:
   * there was none). False otherwise; nothing is changed. A swap
   * that is repeated succeeds again, also a removal of what is gone.
   */
  swap(
    person: string,
    version: string | undefined,
    next: StoredSessions | undefined,
    now: number,
  ): Promise<boolean>
  /** Deletes records past their end, in a small step. Engines that expire them themselves have nothing to do. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface StoredSessions {
  /** Never used for two records, so that a record which was removed and made again is not taken for the old one. */
  version: string
  /** Opaque to engines. */
  text: string
  /** From then on nobody needs the record. */
  endsAt: number
}
