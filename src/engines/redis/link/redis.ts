import type { Durations } from '../../../core/figures.js'
import type { Script } from './script.js'

export type Argument = string | Buffer

export interface RunOptions {
  /** Strings in the reply come as Buffers. */
  binary?: boolean
  /** Leaves at once, alone: the caller has gathered what belongs together. */
  gathered?: boolean
}

export interface RedisNode {
  /** `HOST:PORT`. */
  address: string
  /** What INFO says; undefined when the node did not answer in time. */
  role?: 'master' | 'slave'
  version?: string
  maxmemoryPolicy?: string
  maxmemoryBytes?: number
  usedMemoryBytes?: number
  connectedReplicas?: number
  /** Whether writes are refused while too few replicas follow (`min-replicas-to-write`). */
  needsReplicas?: boolean
  /** Whether there is an append-only file. */
  appendOnly?: boolean
  connectedClients?: number
  /** Since the server was started, like those below. */
  evictedKeys?: number
  keyspaceHits?: number
  keyspaceMisses?: number
  commandsProcessed?: number
}

export interface RedisInfo {
  topology: 'single' | 'sentinel' | 'cluster'
  /** The nodes that take writes. */
  nodes: RedisNode[]
}

/** `lost`: messages may be missed from now on. `resumed`: they come again, and some may have been missed. */
export type Interruption = 'lost' | 'resumed'

export type Unsubscribe = () => Promise<void>

/**
 * What every capability on Redis stands on: the same verbs for one server, Sentinel and Cluster.
 *
 * Each call ends within the command timeout. It fails with ENGINE_UNAVAILABLE when nothing was changed by it (a read,
 * or a write that was never sent or was refused), and with UNKNOWN_OUTCOME when a write may have been sent and no
 * answer came. Maps in replies are `Map`s.
 */
export interface Redis {
  /** Keys of one slot can be given to one script. Without a cluster all keys share slot 0. */
  slot(key: string): number

  /** One command to the primary of the key. Sent again when its connection is lost, so it must not change anything. */
  read(key: string, args: readonly Argument[]): Promise<unknown>
  readBinary(key: string, args: readonly Argument[]): Promise<unknown>

  /** Several commands like `read`, in one go; each is executed behind the one before it. */
  readInOrder(key: string, commands: readonly (readonly Argument[])[]): Promise<unknown[]>

  /** One command to the primary of the key, sent at most once unless the server refused it. */
  write(key: string, args: readonly Argument[]): Promise<unknown>

  /**
   * One operation of a script. Operations of the same script and slot that begin in the same turn of the event loop
   * travel as one EVALSHA; each has its own answer or error. All keys must share a slot.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    options?: RunOptions,
  ): Promise<unknown>

  /** Wake-ups. Messages may be lost, between `lost` and `resumed` certainly; subscribed again by itself. */
  subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onInterrupted: (interruption: Interruption) => void,
  ): Promise<Unsubscribe>

  /** One command to every primary, by address. For questions about servers, not about keys. */
  readEverywhere(args: readonly Argument[]): Promise<Map<string, unknown>>

  /** The servers that take writes, by address: each must be walked over for itself where keys are looked for. */
  primaries(): string[]
  /** One command to that server, once; it must not change anything. Fails when it is no longer among them. */
  readAt(address: string, args: readonly Argument[]): Promise<unknown>

  /** Resolves when every primary has answered. */
  ping(): Promise<void>

  /** Never fails: a node that does not answer is listed without a role. */
  info(): Promise<RedisInfo>

  /** How long servers took to answer, by command. */
  commandTimes(): ReadonlyMap<string, Durations>

  /** Connections that could not be made, or were lost, so far. */
  connectionFailures(): number

  close(): Promise<void>
}
