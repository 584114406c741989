import { later } from '../../../core/timers.js'
import { type Address, nameOf, parseAddress } from './address.js'
import { Connection, type ConnectionSettings } from './connection.js'
import { describeFailure } from './failures.js'
import { Pool } from './reconnecting-connection.js'
import { SLOTS, slotOf } from './slot.js'
import type { OnChange, Topology } from './topology.js'

interface Node {
  address: Address
  pool: Pool
}

/** `from, to, [host, port, id, …] of the primary, … of replicas`. */
type SlotRange = [number, number, [string | null, number], ...unknown[]]

const BETWEEN_LOOKS_MS = 100

/** The slot map of the cluster. It is read again whenever a server is lost or redirects a call. */
export class ClusterTopology implements Topology {
  private readonly nodes = new Map<string, Node>()
  private owners: (Node | undefined)[] = new Array(SLOTS).fill(undefined)
  private looking: Promise<void> | undefined
  private lookAgain: NodeJS.Timeout | undefined
  private reason = 'the cluster was not found yet'
  private readonly bornMs = performance.now()
  private closed = false

  constructor(
    private readonly seeds: readonly Address[],
    private readonly settings: ConnectionSettings,
    private readonly poolSize: number,
    private readonly onChange: OnChange,
  ) {
    this.look()
  }

  slot(key: string): number {
    return slotOf(key)
  }

  connection(slot: number): Connection | undefined {
    return this.owners[slot]?.pool.connection
  }

  outage(slot: number): { reason: string; sinceMs: number } {
    const pool = this.owners[slot]?.pool
    return pool === undefined
      ? { reason: this.reason, sinceMs: this.bornMs }
      : { reason: pool.reason, sinceMs: pool.downSinceMs }
  }

  moved(slot: number, target: Address): void {
    this.owners[slot] = this.node(target)
    this.look()
  }

  asked(target: Address): Connection | undefined {
    return this.node(target).pool.connection
  }

  notPrimary(): void {
    this.look()
  }

  primaries(): Map<string, Connection | undefined> {
    const owners = new Set(this.owners)
    owners.delete(undefined)
    return new Map([...owners].map((node) => [nameOf(node!.address), node!.pool.connection]))
  }

  /** Every server receives all messages. A random one, so that a retry after a failure uses another. */
  listenerAddress(): Address {
    const connected = [...this.nodes.values()].filter(({ pool }) => pool.connection !== undefined)
    const choice = connected.length > 0 ? connected.map(({ address }) => address) : this.seeds
    return choice[Math.floor(Math.random() * choice.length)]!
  }

  close(): void {
    this.closed = true
    clearTimeout(this.lookAgain)
    for (const { pool } of this.nodes.values()) pool.close()
    this.nodes.clear()
    this.owners = []
    this.reason = 'this instance is closed'
  }

  /** Reads the slot map. Runs once at a time, and not more often than every 100 ms. */
  look(): void {
    if (this.closed || this.looking !== undefined || this.lookAgain !== undefined) return
    this.looking = this.learn()
      .catch((error: unknown) => {
        this.reason = describeFailure(error, this.settings.password)
        this.onChange()
        return false
      })
      .then((learnt) => {
        this.looking = undefined
        if (this.closed) return
        const pauseMs = BETWEEN_LOOKS_MS * (1 + Math.random())
        this.lookAgain = later(() => {
          this.lookAgain = undefined
          if (!learnt || this.isIncomplete()) this.look()
        }, pauseMs)
      })
  }

  private isIncomplete(): boolean {
    return [...this.primaries().values()].includes(undefined) || this.owners.includes(undefined)
  }

  /** Queries connected servers first, because the seeds may no longer exist. */
  private async learn(): Promise<boolean> {
    for (const { pool } of [...this.nodes.values()].sort(() => Math.random() - 0.5)) {
      const connection = pool.connection
      if (connection === undefined) continue
      const ranges = await askSlots(connection, this.settings).catch(() => undefined)
      if (ranges !== undefined) return this.apply(ranges, connection.address.host)
    }
    const failures: string[] = []
    for (const seed of this.seeds) {
      try {
        const ranges = await this.askSeed(seed)
        return this.apply(ranges, seed.host)
      } catch (error) {
        failures.push(`${nameOf(seed)}: ${describeFailure(error, this.settings.password)}`)
      }
    }
    throw new Error(`no node of the cluster answers (${failures.join('; ')})`)
  }

  private async askSeed(seed: Address): Promise<SlotRange[]> {
    const connection = await Connection.open(seed, this.settings)
    try {
      return await askSlots(connection, this.settings)
    } finally {
      connection.close()
    }
  }

  private apply(ranges: SlotRange[], askedHost: string): boolean {
    if (this.closed || ranges.length === 0) return false
    const owners: (Node | undefined)[] = new Array(SLOTS).fill(undefined)
    for (const [from, to, [host, port]] of ranges) {
      const address = parseAddress(`${host ?? ''}:${port}`, askedHost)
      if (address !== undefined) owners.fill(this.node(address), from, to + 1)
    }
    this.owners = owners
    this.reason = 'no server of the cluster has this slot'
    const inUse = new Set(owners)
    for (const [name, node] of this.nodes) {
      if (inUse.has(node)) continue
      this.nodes.delete(name)
      node.pool.retire(this.settings.commandTimeoutMs)
    }
    this.onChange()
    return true
  }

  private node(address: Address): Node {
    const name = nameOf(address)
    const known = this.nodes.get(name)
    if (known !== undefined) return known
    const { settings, onChange } = this
    const pool = new Pool(
      { settings, locate: () => address, onUp: onChange, onDown: () => this.look() },
      this.poolSize,
    )
    const node = { address, pool }
    this.nodes.set(name, node)
    return node
  }
}

async function askSlots(
  connection: Connection,
  { commandTimeoutMs }: ConnectionSettings,
): Promise<SlotRange[]> {
  return (await connection.ask(['CLUSTER', 'SLOTS'], performance.now() + commandTimeoutMs)) as SlotRange[]
}
