import type { SessionStore, StoredSessions } from '../../../guards/access/sessions/port.js'
import { number, numberOf, text, textOf } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

const VERB = 'sessions'

/** `person` is a hash in base64url. */
const sessionsKey = (person: string): Key => keyOf(`${PARTITION.sessions}${person}`, 'SESSIONS')

/** One item for each person in the table for guards, which TTL deletes some time after the last session has ended. */
export class DynamodbSessions implements SessionStore {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  async read(person: string): Promise<StoredSessions | undefined> {
    const item = await this.client.readItem(VERB, this.table, sessionsKey(person))
    if (item === undefined) return undefined
    return {
      version: textOf(item, 'version'),
      text: textOf(item, 'text'),
      endsAt: numberOf(item, 'endsAt'),
    }
  }

  async swap(
    person: string,
    version: string | undefined,
    next: StoredSessions | undefined,
    _now: number,
  ): Promise<boolean> {
    const TableName = this.table
    const Key = sessionsKey(person)
    const expression = new Expression()
    const isRead = expression.equals('version', version === undefined ? undefined : text(version))
    if (next === undefined) {
      // A removal that is repeated finds nothing any more.
      expression.when(version === undefined ? isRead : `${isRead} OR ${expression.absent('version')}`)
      return (await this.client.deleteItem(VERB, { TableName, Key, ...expression.check() })).applied
    }
    // A swap that is repeated finds what it wrote.
    expression.when(`${isRead} OR ${expression.equals('version', text(next.version))}`)
    const Item = {
      ...Key,
      version: text(next.version),
      text: text(next.text),
      endsAt: number(next.endsAt),
      ttl: number(Math.ceil(next.endsAt / 1000)),
    }
    return (await this.client.putItem(VERB, { TableName, Item, ...expression.check() })).applied
  }

  /** TTL deletes them. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }
}
