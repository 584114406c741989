import { type Address, nameOf, parseAddress } from './address.js'
import { Connection, type ConnectionSettings } from './connection.js'
import { describeFailure } from './failures.js'
import type { Lead } from './single-topology.js'

/** Finds the master by asking Sentinels, and believes only a server that calls itself master. */
export function sentinelLead(
  sentinels: readonly Address[],
  master: string,
  settings: ConnectionSettings,
): Lead {
  let order = [...sentinels]
  return {
    async locate() {
      const failures: string[] = []
      for (const sentinel of order) {
        try {
          const address = await askSentinel(sentinel, master, settings)
          // The one that knew is asked first the next time.
          order = [sentinel, ...order.filter((other) => other !== sentinel)]
          return address
        } catch (error) {
          failures.push(`${nameOf(sentinel)}: ${describeFailure(error, settings.password)}`)
        }
      }
      throw new Error(`no Sentinel names the master ${master} (${failures.join('; ')})`)
    },
    async welcome(connection) {
      const reply = (await connection.ask(['ROLE'], inTime(settings))) as unknown[]
      // A master that came back as a replica still answers at its old address until the Sentinels know.
      if (reply[0] !== 'master')
        throw new Error(`${nameOf(connection.address)} is a ${reply[0]}, not the master`)
    },
  }
}

async function askSentinel(
  sentinel: Address,
  master: string,
  settings: ConnectionSettings,
): Promise<Address> {
  const connection = await openSentinel(sentinel, settings)
  try {
    const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master]
    const reply = (await connection.ask(question, inTime(settings))) as [string, string] | null
    const address = reply === null ? undefined : parseAddress(`${reply[0]}:${reply[1]}`, sentinel.host)
    if (address === undefined) throw new Error(`does not know the master ${master}`)
    return address
  } finally {
    connection.close()
  }
}

/** Sentinels often have no password though their servers have one: it is sent only to those that ask for it. */
export async function openSentinel(sentinel: Address, settings: ConnectionSettings): Promise<Connection> {
  const { username, password, ...open } = settings
  try {
    return await Connection.open(sentinel, { ...open, password: undefined, database: 0 })
  } catch (error) {
    const wanted = error instanceof Error && error.message.startsWith('NOAUTH')
    if (!wanted || password === undefined) throw error
    return Connection.open(sentinel, { ...settings, database: 0 })
  }
}

const inTime = ({ commandTimeoutMs }: ConnectionSettings): number => performance.now() + commandTimeoutMs
