import { every, later } from '../../../core/timers.js'
import { type Address, nameOf, parseAddress } from './address.js'
import { Connection, type ConnectionSettings } from './connection.js'
import { inTime } from './in-time.js'
import { ReconnectingConnection } from './reconnecting-connection.js'
import { isSame, masterOf, type View } from './sentinel-views.js'

interface SentinelAnswer extends View {
  toldMs: number
}

interface Listener {
  /** The master changed. */
  onNamed: (address: Address) => void
  /** No Sentinel can be reached. */
  onAllLost: () => void
}

/**
 * The leader of a failover announces the promotion first, and the switch when the replicas have followed.
 * Announcements have no epoch and may come late, so they only cause a query of the Sentinels.
 */
const ANNOUNCEMENTS = ['+switch-master', '+promoted-slave']
/** Announcements may be lost with their connection, so every Sentinel is also polled. */
const BETWEEN_QUESTIONS_MS = 1000
/** How long the last answer of an unreachable Sentinel counts: another one may still name an older master. */
const VIEW_COUNTS_MS = 60_000
const LONGEST_QUESTION_MS = 500

/** Follows all Sentinels at once and determines the master that they name. */
export class Sentinels {
  private readonly watches: SentinelWatcher[]
  private readonly pulse: NodeJS.Timeout
  private namedPrimary: Address | undefined
  private lastHeardMs = Number.NEGATIVE_INFINITY

  constructor(
    addresses: readonly Address[],
    private readonly master: string,
    private readonly settings: ConnectionSettings,
    private readonly listener: Listener,
  ) {
    this.watches = addresses.map(
      (address) =>
        new SentinelWatcher(address, master, settings, {
          onTold: () => this.told(),
          onAnnounced: () => void this.ask(),
          onDown: () => this.down(),
        }),
    )
    this.pulse = every(() => this.ask(), BETWEEN_QUESTIONS_MS)
    this.pulse.unref()
  }

  get named(): Address | undefined {
    return this.namedPrimary
  }

  /** When a Sentinel last answered. */
  get heardMs(): number {
    return this.lastHeardMs
  }

  /** Why no Sentinel names a master. */
  get reason(): string {
    return `no Sentinel names the master ${this.master} (${this.watches.map(({ state }) => state).join('; ')})`
  }

  /**
   * Queries all Sentinels now. Resolves with the number of answers, when a majority has answered or no more can come.
   */
  ask(): Promise<number> {
    const asked = this.watches.filter(({ isUp }) => isUp)
    const most = Math.floor(this.watches.length / 2) + 1
    return new Promise((resolve) => {
      let answers = 0
      let ended = 0
      const giveUp = () => resolve(answers)
      const timer = later(giveUp, Math.min(LONGEST_QUESTION_MS, this.settings.commandTimeoutMs / 2))
      const look = () => {
        if (answers < most && ended < asked.length) return
        clearTimeout(timer)
        resolve(answers)
      }
      for (const watch of asked) {
        void watch.ask().then((answered) => {
          answers += Number(answered)
          ended++
          look()
        })
      }
      look()
    })
  }

  close(): void {
    clearInterval(this.pulse)
    for (const watch of this.watches) watch.close()
  }

  private told(): void {
    const nowMs = performance.now()
    this.lastHeardMs = nowMs
    const told = this.watches.flatMap(({ view }) =>
      view === undefined || nowMs - view.toldMs > VIEW_COUNTS_MS ? [] : [view],
    )
    const master = masterOf(told, this.namedPrimary)
    if (master === undefined || isSame(master, this.namedPrimary)) return
    this.namedPrimary = master
    this.listener.onNamed(master)
  }

  private down(): void {
    if (this.watches.every(({ hasFailed }) => hasFailed)) this.listener.onAllLost()
  }
}

/** One Sentinel: its announcements and its answers. */
class SentinelWatcher {
  private readonly link: ReconnectingConnection
  view: SentinelAnswer | undefined
  hasFailed = false

  constructor(
    private readonly address: Address,
    private readonly master: string,
    private readonly settings: ConnectionSettings,
    private readonly listener: { onTold: () => void; onAnnounced: () => void; onDown: () => void },
  ) {
    this.link = new ReconnectingConnection({
      settings: forSentinels(settings),
      open: openSentinel,
      locate: () => address,
      welcome: (connection) => this.welcome(connection),
      onUp: () => {
        this.hasFailed = false
      },
      onDown: () => {
        this.hasFailed = true
        listener.onDown()
      },
    })
  }

  get isUp(): boolean {
    return this.link.connection !== undefined
  }

  get state(): string {
    return `${nameOf(this.address)}: ${this.isUp ? 'does not answer' : this.link.reason}`
  }

  /** Whether it answered. */
  async ask(): Promise<boolean> {
    try {
      await this.look(this.link.connection!)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.link.close()
  }

  /** Subscribes before it queries, so that no change is missed in between. */
  private async welcome(connection: Connection): Promise<void> {
    for (const channel of ANNOUNCEMENTS) {
      const heard = connection.subscribe(channel, () => this.listener.onAnnounced())
      await inTime(heard, this.settings.commandTimeoutMs, connection)
    }
    await this.look(connection)
  }

  private async look(connection: Connection): Promise<void> {
    const deadlineMs = performance.now() + this.settings.commandTimeoutMs
    // The epoch first: if the master changes in between, the new one gets an old epoch and not the other way round.
    const [facts, named] = await Promise.all([
      connection.ask(['SENTINEL', 'MASTER', this.master], deadlineMs),
      connection.ask(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.master], deadlineMs),
    ])
    const address = addressOf(named as [string, string] | null, this.address)
    if (address === undefined) throw new Error(`does not know the master ${this.master}`)
    this.told(address, Number((facts as Map<string, string>).get('config-epoch') ?? 0))
  }

  private told(address: Address, epoch: number): void {
    this.view = { address, epoch, toldMs: performance.now() }
    this.listener.onTold()
  }
}

function addressOf(named: [string, string] | null, sentinel: Address): Address | undefined {
  return named === null ? undefined : parseAddress(`${named[0]}:${named[1]}`, sentinel.host)
}

/**
 * Sentinels are not part of the store: their failures and response times are not counted. The password may change, so
 * it is not copied.
 */
function forSentinels(settings: ConnectionSettings): ConnectionSettings {
  return {
    ...settings,
    onFailure: () => {},
    times: undefined,
    get password() {
      return settings.password
    },
  }
}

/** Sentinels often have no password though their servers have one, so it is sent only to those that require it. */
export async function openSentinel(sentinel: Address, settings: ConnectionSettings): Promise<Connection> {
  const { username, password, ...open } = settings
  try {
    return await Connection.open(sentinel, { ...open, password: undefined, database: 0 })
  } catch (error) {
    const wanted = error instanceof Error && error.message.startsWith('NOAUTH')
    if (!wanted || password === undefined) throw error
    return Connection.open(sentinel, { ...settings, password, database: 0 })
  }
}
