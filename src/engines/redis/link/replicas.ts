import { every } from '../../../core/timers.js'
import { type Address, nameOf, parseAddress } from './address.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { ReconnectingConnection } from './reconnecting-connection.js'
import type { Argument } from './redis.js'
import type { Topology } from './topology.js'

const BETWEEN_LOOKS_MS = 1000
/** A replica that does not answer in this time costs no more: then the primary is asked. */
const ANSWER_MS = 250
/** How long a replica that failed is not asked. */
const PAUSE_MS = 1000

interface Replica {
  link: ReconnectingConnection
  pausedUntilMs: number
}

/** The replicas that each primary names, for reads that say themselves whether they are recent enough. */
export class Replicas {
  private readonly ofPrimary = new Map<string, Map<string, Replica>>()
  private readonly timer: NodeJS.Timeout
  private looking = false
  private turn = 0

  constructor(
    private readonly topology: Topology,
    private readonly settings: ConnectionSettings,
    private readonly isCluster: boolean,
  ) {
    this.timer = every(() => this.look(), BETWEEN_LOOKS_MS).unref()
  }

  /** Executed in order by one replica of the primary of the slot. Undefined: there is none, or it failed. */
  async readInOrder(
    slot: number,
    commands: readonly (readonly Argument[])[],
  ): Promise<unknown[] | undefined> {
    const primary = this.topology.connection(slot)
    const known = primary && this.ofPrimary.get(nameOf(primary.address))
    const now = performance.now()
    const usable = [...(known?.values() ?? [])].filter(
      ({ link, pausedUntilMs }) => link.connection !== undefined && pausedUntilMs <= now,
    )
    const replica = usable[this.turn++ % usable.length]
    if (replica === undefined) return undefined
    const connection = replica.link.connection!
    const sent = commands.map((args) =>
      connection.ask(args, now + Math.min(ANSWER_MS, this.settings.commandTimeoutMs)),
    )
    try {
      return await Promise.all(sent)
    } catch {
      replica.pausedUntilMs = performance.now() + PAUSE_MS
      return undefined
    }
  }

  /** Connected replicas. */
  get connected(): number {
    const all = [...this.ofPrimary.values()].flatMap((replicas) => [...replicas.values()])
    return all.filter(({ link }) => link.connection !== undefined).length
  }

  close(): void {
    clearInterval(this.timer)
    for (const name of [...this.ofPrimary.keys()]) this.forget(name)
  }

  /** A replica that its primary no longer names is not asked any more. */
  async look(): Promise<void> {
    if (this.looking) return
    this.looking = true
    try {
      const primaries = this.topology.primaries()
      for (const name of this.ofPrimary.keys()) if (!primaries.has(name)) this.forget(name)
      await Promise.all(
        [...primaries].map(async ([name, connection]) => {
          const named = connection && (await this.namedBy(connection).catch(() => undefined))
          if (named === undefined) this.forget(name)
          else this.follow(name, named)
        }),
      )
    } finally {
      this.looking = false
    }
  }

  private async namedBy(primary: Connection): Promise<Address[]> {
    const deadlineMs = performance.now() + this.settings.commandTimeoutMs
    const [role, , replicas] = (await primary.ask(['ROLE'], deadlineMs)) as [string, number, string[][]]
    if (role !== 'master') return []
    return replicas.flatMap(([host, port]) => parseAddress(`${host}:${port}`, primary.address.host) ?? [])
  }

  private follow(primary: string, named: readonly Address[]): void {
    let known = this.ofPrimary.get(primary)
    if (known === undefined) this.ofPrimary.set(primary, (known = new Map()))
    const { settings } = this
    const names = new Set(named.map(nameOf))
    for (const [name, { link }] of known) {
      if (names.has(name)) continue
      link.close()
      known.delete(name)
    }
    for (const address of named) {
      if (known.has(nameOf(address))) continue
      const link = new ReconnectingConnection({
        // A missing replica is no failure of the store.
        settings: {
          ...settings,
          onFailure: () => {},
          get password() {
            return settings.password
          },
        },
        locate: () => address,
        welcome: (connection) => this.welcome(connection),
      })
      known.set(nameOf(address), { link, pausedUntilMs: 0 })
    }
  }

  private async welcome(connection: Connection): Promise<void> {
    const deadlineMs = performance.now() + this.settings.commandTimeoutMs
    if (this.isCluster) await connection.ask(['READONLY'], deadlineMs)
    const [role] = (await connection.ask(['ROLE'], deadlineMs)) as [string]
    if (role !== 'slave') throw new Error(`${nameOf(connection.address)} is a ${role}, not a replica`)
  }

  private forget(primary: string): void {
    for (const { link } of this.ofPrimary.get(primary)?.values() ?? []) link.close()
    this.ofPrimary.delete(primary)
  }
}
