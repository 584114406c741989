import type { Durations } from '../../../core/figures.js'
import type { Script } from './script.js'

export type Argument = string | Buffer

export interface RunOptions {
  /** Return strings of the reply as Buffers. */
  binary?: boolean
  /** Send at once and not in a batch: the caller has already batched its work. */
  gathered?: boolean
}

export interface RedisNode {
  /** `HOST:PORT`. */
  address: string
  /** From INFO; undefined if the node did not answer in time. */
  role?: 'master' | 'slave'
  version?: string
  maxmemoryPolicy?: string
  maxmemoryBytes?: number
  usedMemoryBytes?: number
  connectedReplicas?: number
  /** Whether the server refuses writes when too few replicas follow (`min-replicas-to-write`). */
  needsReplicas?: boolean
  /** Whether the server writes an append-only file. */
  appendOnly?: boolean
  connectedClients?: number
  /** Counted since the server started, like those below. */
  evictedKeys?: number
  keyspaceHits?: number
  keyspaceMisses?: number
  commandsProcessed?: number
}

export interface RedisInfo {
  topology: 'single' | 'sentinel' | 'cluster'
  /** The primaries. */
  nodes: RedisNode[]
}

/** `lost`: messages may be missed from now on. `resumed`: messages arrive again, and some may have been missed. */
export type Interruption = 'lost' | 'resumed'

export type Unsubscribe = () => Promise<void>

/**
 * The interface to Redis for all stores: the same methods for one server, Sentinel and Cluster.
 *
 * Each call ends within the command timeout. It fails with ENGINE_UNAVAILABLE if it changed nothing (a read, or a
 * write that was never sent or was refused). It fails with UNKNOWN_OUTCOME if a write may have been sent and no reply
 * came. Maps in replies are `Map`s.
 */
export interface Redis {
  /** One script can use several keys if they share a slot. Without a cluster all keys have slot 0. */
  slot(key: string): number

  /**
   * Sends a command to the primary of the key. It is sent again when the connection is lost, so it must not change
   * anything.
   */
  read(key: string, args: readonly Argument[]): Promise<unknown>
  readBinary(key: string, args: readonly Argument[]): Promise<unknown>

  /** Several commands like `read`, sent together and executed in order. */
  readInOrder(key: string, commands: readonly (readonly Argument[])[]): Promise<unknown[]>

  /**
   * The same by a replica, once. Undefined: reads from replicas are off, or no replica answered. The caller must find
   * out from the replies whether they are recent enough.
   */
  readOnReplica(key: string, commands: readonly (readonly Argument[])[]): Promise<unknown[] | undefined>

  /** Sends a command to the primary of the key, at most once unless the server refused it. */
  write(key: string, args: readonly Argument[]): Promise<unknown>

  /**
   * Runs one operation of a script. Operations of the same script and slot that begin in the same turn of the event
   * loop are sent as one EVALSHA; each gets its own result or error. All keys must share a slot.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    options?: RunOptions,
  ): Promise<unknown>

  /**
   * Subscribes for notifications, and again after a reconnect. Messages may be lost, certainly between `lost` and
   * `resumed`.
   */
  subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onInterrupted: (interruption: Interruption) => void,
  ): Promise<Unsubscribe>

  /** Sends a command to every primary; replies by address. For questions about servers, not keys. */
  readEverywhere(args: readonly Argument[]): Promise<Map<string, unknown>>

  /** Addresses of the primaries. To find keys, each must be scanned separately. */
  primaries(): string[]
  /** Sends a command to that server, once; it must not change anything. Fails if the server is no longer a primary. */
  readAt(address: string, args: readonly Argument[]): Promise<unknown>

  /** Resolves when every primary has answered. */
  ping(): Promise<void>

  /** Never fails: a node that does not answer is listed without a role. */
  info(): Promise<RedisInfo>

  /** Response times of the servers, by command. */
  commandTimes(): ReadonlyMap<string, Durations>

  /** Connected replicas that reads may use. */
  readonly replicas: number

  /** Number of connections that failed or were lost so far. */
  connectionFailures(): number

  close(): Promise<void>
}
