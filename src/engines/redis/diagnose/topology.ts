import {
  type Check,
  type CheckResult,
  ok,
  problem,
  reasonOf,
  skipped,
  warning,
} from '../../../core/diagnosis.js'
import { bareHost, nameOf } from '../link/address.js'
import type { Connection } from '../link/connection.js'
import { Connection as Connections } from '../link/connection.js'
import { openSentinel } from '../link/sentinels.js'
import { fieldsOf, numberOf, ofEach, type RedisFacts, type Server } from './context.js'

const SLOTS = '16384'

/** What this check needs without a connection to all primaries. */
type TopologyFacts = Pick<RedisFacts, 'url' | 'connection'>

export const topologyCheck: Check<TopologyFacts> = {
  id: 'redis.topology',
  expects: 'All Sentinels answer, agree and have a quorum; a cluster is up and covers every slot.',
  remedy: 'Start the missing servers, and resolve the disagreement, before the next server fails.',
  run(context): CheckResult | Promise<CheckResult> {
    const { topology } = context.url
    if (topology === 'sentinel') return lookAtSentinels(context)
    return topology === 'cluster' ? lookAtCluster(context) : ok('one server')
  },
}

type Told = { name: string; answer: string[] } | { name: string; failure: string }

/** Queries every node of the URL separately, so that one unreachable node does not hide the answers of others. */
function askAll(
  { url, connection }: TopologyFacts,
  question: (node: Connection) => Promise<string[]>,
): Promise<Told[]> {
  return Promise.all(
    url.nodes.map(async ({ host, port }) => {
      const address = { host: bareHost(host), port }
      const name = nameOf(address)
      let node: Connection | undefined
      try {
        node = await (url.topology === 'sentinel' ? openSentinel : Connections.open)(address, connection)
        return { name, answer: await question(node) }
      } catch (error) {
        return { name, failure: reasonOf(error) }
      } finally {
        node?.close()
      }
    }),
  )
}

async function lookAtSentinels(context: TopologyFacts): Promise<CheckResult> {
  const master = context.url.master!
  const deadline = (): number => performance.now() + context.connection.commandTimeoutMs
  const told = await askAll(context, async (node) => {
    const named = await node.ask(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master], deadline())
    const quorum = await node.ask(['SENTINEL', 'CKQUORUM', master], deadline()).catch(() => 'NOQUORUM')
    return [
      named === null ? 'none' : (named as string[]).join(':'),
      String(quorum).startsWith('OK') ? '' : 'no',
    ]
  })
  const answered = told.filter((one) => 'answer' in one)
  if (answered.length === 0) return problem('no Sentinel answers')
  const masters = new Set(answered.map(({ answer }) => answer[0]))
  if (masters.size > 1) return problem(`Sentinels name different masters: ${[...masters].join(', ')}`)
  if (masters.has('none')) return problem(`no Sentinel knows the master ${master}`)
  const without = answered.filter(({ answer }) => answer[1] === 'no')
  if (without.length > 0)
    return problem(`no quorum, according to ${without.map(({ name }) => name).join(', ')}`)
  const silent = told.filter((one) => 'failure' in one).map(({ name }) => name)
  if (silent.length > 0) return warning(`no answer from the Sentinel at ${silent.join(', ')}`)
  const few = told.length < 3 ? ' of the URL' : ''
  return ok(`${told.length} Sentinels${few} agree on ${[...masters][0]}, with a quorum`)
}

async function lookAtCluster(context: TopologyFacts): Promise<CheckResult> {
  const told = await askAll(context, async (node) => {
    const text = await node.ask(['CLUSTER', 'INFO'], performance.now() + context.connection.commandTimeoutMs)
    const fields = fieldsOf(String(text))
    const names = ['cluster_state', 'cluster_slots_assigned', 'cluster_slots_ok', 'cluster_size']
    return names.map((name) => fields.get(name) ?? '')
  })
  const answered = told.filter((one) => 'answer' in one)
  if (answered.length === 0) return problem('no node of the URL answers')
  const bad = answered.find(({ answer: [state, assigned, fine] }) => {
    return state !== 'ok' || assigned !== SLOTS || fine !== SLOTS
  })
  if (bad !== undefined) {
    const [state, assigned, fine] = bad.answer
    return problem(`${bad.name} says: state ${state}, ${assigned} of ${SLOTS} slots assigned, ${fine} served`)
  }
  const silent = told.filter((one) => 'failure' in one).map(({ name }) => name)
  if (silent.length > 0) return warning(`no answer from ${silent.join(', ')}`)
  return ok(`state ok, ${SLOTS} slots on ${answered[0]!.answer[3]} primaries`)
}

export const roleCheck: Check<RedisFacts> = {
  id: 'redis.role',
  expects: 'The server accepts writes.',
  remedy: 'Name the primary, or use `redis+sentinel://`, which finds it.',
  run: (context) =>
    ofEach(context, ({ info }) => {
      const role = info.get('role')
      return role === 'master' ? ok('it is a primary') : problem(`it is a ${role ?? 'server without a role'}`)
    }),
}

export const replicaCheck: Check<RedisFacts> = {
  id: 'redis.replicas',
  expects:
    'There are as many replicas as `redis.waitReplicas` requires, and a primary without replicas refuses writes.',
  remedy:
    'Start replicas; set `min-replicas-to-write 1`, so that an old primary refuses writes after a failover, and `redis.waitReplicas` if acknowledged writes must survive a failover.',
  run: (context) =>
    context.use === 'caches'
      ? skipped('the server has only caches')
      : ofEach(context, (server) => replicasOf(context, server)),
}

function replicasOf({ url, waitReplicas }: RedisFacts, server: Server): CheckResult {
  const replicas = numberOf(server, 'connected_slaves') || 0
  const least = server.settings.get('min-replicas-to-write')
  const isNeeded = least === undefined ? server.info.has('min_slaves_good_slaves') : least !== '0'
  const found = `${replicas} replicas${least === undefined ? '' : `, min-replicas-to-write ${least}`}, redis.waitReplicas ${waitReplicas}`
  if (replicas < waitReplicas) return problem(`${found}: every write ends in UNKNOWN_OUTCOME`)
  if (replicas < Number(least ?? 0)) return problem(`${found}: every write is refused`)
  if (url.topology === 'single') return ok(found)
  if (replicas === 0) return warning(`${found}: no replica can take over`)
  return isNeeded
    ? ok(found)
    : warning(
        `${found}: after a failover the old primary may accept writes, which are lost, until it learns of the failover`,
      )
}
