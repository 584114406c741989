import { CatracaError } from '../../../core/errors.js'
import type { Durations } from '../../../core/figures.js'
import { later } from '../../../core/timers.js'
import type { RedisUrl } from '../url.js'
import { bareHost } from './address.js'
import { Calls } from './calls.js'
import { ClusterTopology } from './cluster-topology.js'
import { CommandTimes } from './command-times.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { unavailable } from './failures.js'
import { infoOf } from './info.js'
import { type RedisOptions, type Settings, settingsOf } from './options.js'
import type { Argument, Interruption, Redis, RedisInfo, RunOptions, Unsubscribe } from './redis.js'
import { Replicas } from './replicas.js'
import type { Script } from './script.js'
import { ScriptRuns } from './script-runs.js'
import { SentinelTopology } from './sentinel-topology.js'
import { SingleTopology } from './single-topology.js'
import { Subscriptions } from './subscriptions.js'
import type { OnChange, Topology } from './topology.js'

/** Resolves with a working connection. Rejects within the connect timeout, with the reason. */
export async function openRedis(url: RedisUrl, options: RedisOptions = {}): Promise<Redis> {
  const redis = new OpenRedis(url, settingsOf(options))
  try {
    await redis.connected()
    return redis
  } catch (error) {
    await redis.close()
    throw error
  }
}

/** At the start, a retry does not help against these. Later, an operator may be changing passwords or certificates. */
const HOPELESS = /WRONGPASS|NOAUTH|NOPERM|certificate/

class OpenRedis implements Redis {
  private readonly topology: Topology
  private readonly calls: Calls
  private readonly scripts: ScriptRuns
  private readonly subscriptions: Subscriptions
  private readonly copies: Replicas | undefined
  private onChange: OnChange = () => {}
  private failedConnections = 0
  private readonly times = new CommandTimes()
  private closed = false

  constructor(
    private readonly url: RedisUrl,
    private readonly settings: Settings,
  ) {
    const connection = connectionSettings(url, settings, () => this.failedConnections++, this.times)
    this.calls = new Calls(() => this.topology, settings)
    this.topology = topologyOf(url, connection, settings.poolSize, () => {
      this.calls.changed()
      this.onChange()
    })
    this.scripts = new ScriptRuns(this.calls, settings)
    this.subscriptions = new Subscriptions(this.topology, connection)
    if (settings.confirmFrom === 'replica') {
      this.copies = new Replicas(this.topology, connection, url.topology === 'cluster')
    }
  }

  slot(key: string): number {
    return this.topology.slot(key)
  }

  read(key: string, args: readonly Argument[]): Promise<unknown> {
    return this.call(key, args, false, false)
  }

  readBinary(key: string, args: readonly Argument[]): Promise<unknown> {
    return this.call(key, args, true, false)
  }

  readInOrder(key: string, commands: readonly (readonly Argument[])[]): Promise<unknown[]> {
    if (this.closed) return Promise.reject(closed())
    const slot = this.slot(key)
    const deadlineMs = this.calls.deadline()
    return this.calls.askInOrder(
      commands.map((args) => ({ slot, args, binary: false, write: false, deadlineMs })),
    )
  }

  readOnReplica(key: string, commands: readonly (readonly Argument[])[]): Promise<unknown[] | undefined> {
    if (this.closed) return Promise.reject(closed())
    return this.copies?.readInOrder(this.slot(key), commands) ?? Promise.resolve(undefined)
  }

  get replicas(): number {
    return this.copies?.connected ?? 0
  }

  write(key: string, args: readonly Argument[]): Promise<unknown> {
    return this.call(key, args, false, true)
  }

  run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    options?: RunOptions,
  ): Promise<unknown> {
    if (this.closed) return Promise.reject(closed())
    const slot = keys.length === 0 ? 0 : this.slot(keys[0]!)
    return this.scripts.run(script, slot, keys, args, options)
  }

  async subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onInterrupted: (interruption: Interruption) => void,
  ): Promise<Unsubscribe> {
    this.refuseClosed()
    return this.subscriptions.subscribe(channel, { onMessage, onInterrupted })
  }

  async readEverywhere(args: readonly Argument[]): Promise<Map<string, unknown>> {
    this.refuseClosed()
    const asked = [...this.topology.primaries()].map(
      async ([address, connection]) => [address, await this.ask(connection, args)] as const,
    )
    return new Map(await Promise.all(asked))
  }

  primaries(): string[] {
    this.refuseClosed()
    return [...this.topology.primaries().keys()]
  }

  async readAt(address: string, args: readonly Argument[]): Promise<unknown> {
    this.refuseClosed()
    return this.ask(this.topology.primaries().get(address), args)
  }

  async ping(): Promise<void> {
    await this.readEverywhere(['PING'])
  }

  async info(): Promise<RedisInfo> {
    this.refuseClosed()
    const asked = [...this.topology.primaries()].map(async ([address, connection]) => {
      const text = await this.ask(connection, ['INFO']).catch(() => '')
      return infoOf(address, String(text))
    })
    return { topology: this.url.topology, nodes: await Promise.all(asked) }
  }

  commandTimes(): ReadonlyMap<string, Durations> {
    return this.times.rows()
  }

  connectionFailures(): number {
    return this.failedConnections
  }

  async close(): Promise<void> {
    this.closed = true
    this.calls.close()
    this.subscriptions.close()
    this.copies?.close()
    this.topology.close()
  }

  /** Resolves when all primaries are connected; rejects with the first reason why not. */
  async connected(): Promise<void> {
    const { connectTimeoutMs } = this.settings
    const missing = () => {
      const primaries = this.topology.primaries()
      return primaries.size === 0 || [...primaries.values()].includes(undefined)
    }
    if (!missing()) return
    let timer!: NodeJS.Timeout
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = () => reject(unavailable(this.topology.outage(0).reason))
        this.onChange = () => {
          if (!missing()) resolve()
          else if (HOPELESS.test(this.topology.outage(0).reason)) fail()
        }
        timer = later(fail, connectTimeoutMs)
      })
    } finally {
      clearTimeout(timer)
      this.onChange = () => {}
    }
  }

  private call(key: string, args: readonly Argument[], binary: boolean, write: boolean): Promise<unknown> {
    if (this.closed) return Promise.reject(closed())
    const deadlineMs = this.calls.deadline()
    return this.calls.ask({ slot: this.topology.slot(key), args, binary, write, deadlineMs })
  }

  private async ask(connection: Connection | undefined, args: readonly Argument[]): Promise<unknown> {
    if (connection === undefined) throw unavailable(this.topology.outage(0).reason)
    return this.calls.askAt(connection, args)
  }

  private refuseClosed(): void {
    if (this.closed) throw closed()
  }
}

const closed = (): CatracaError => new CatracaError('CLOSED', 'this connection to Redis was closed')

export function connectionSettings(
  url: RedisUrl,
  settings: Settings,
  onFailure: () => void = () => {},
  times?: CommandTimes,
): ConnectionSettings {
  const { connectTimeoutMs, commandTimeoutMs, maxInFlight, tls, readPassword } = settings
  return {
    connectTimeoutMs,
    commandTimeoutMs,
    maxInFlight,
    tls: url.tls ? tls : undefined,
    database: url.database,
    onFailure,
    times,
    ...(url.username === undefined ? {} : { username: url.username }),
    get password() {
      return readPassword() ?? url.password
    },
  }
}

function topologyOf(
  url: RedisUrl,
  settings: ConnectionSettings,
  poolSize: number,
  onChange: OnChange,
): Topology {
  const nodes = url.nodes.map(({ host, port }) => ({ host: bareHost(host), port }))
  if (url.topology === 'cluster') return new ClusterTopology(nodes, settings, poolSize, onChange)
  if (url.topology === 'sentinel')
    return new SentinelTopology(nodes, url.master!, settings, poolSize, onChange)
  return new SingleTopology(nodes[0]!, settings, poolSize, onChange)
}
