import type { Command } from 'commander'
import type { FleetProcess, FleetView } from '../../guards/fleet/types.js'
import { duration, note, printLine, printRows } from '../output/print.js'
import { dataCommand, inSession } from './support/session.js'

/** Processes or lists that a line names. */
const MOST_NAMED = 5

export function addFleetCommand(program: Command): void {
  dataCommand(program, 'fleet', 'show all servers that use the store, and what they do').action(
    inSession(async ({ fleet, print }) => {
      const view = await fleet.list()
      print(view, () =>
        view.enabled ? printFleet(view) : note('the fleet is switched off on this server (fleet.enabled)'),
      )
    }),
  )
}

function printFleet({ processes, sums, versions, notFollowed }: FleetView): void {
  printRows(processes, {
    ...{ NAME: 'name', PID: 'pid', VERSION: 'version', ENGINE: 'engine' },
    UP: ({ startedAt }) =>
      startedAt === '' ? undefined : duration(Math.max(0, Date.now() - Date.parse(startedAt))),
    ...{ LISTS: 'lists', STALE: 'staleLists', 'BEHIND MS': 'feedLagMs' },
    'CHECKS/S': ({ checksPerSecond = '-' }) => checksPerSecond,
    'ERRORS/MIN': ({ lastMinute }) => lastMinute.errors,
    'DEGRADED/MIN': ({ lastMinute }) => lastMinute.degraded,
  })
  const perSecond = Math.round(sums.checksPerSecond)
  printLine('')
  printLine(
    `${sums.processes} processes, ${perSecond} checks/s, ${sums.errorsLastMinute} errors and ${sums.degradedLastMinute} degraded answers in the last minute`,
  )
  if (versions.length > 1)
    note(`mixed versions: ${versions.map((one) => `${one.version} (${one.processes})`).join(', ')}`)
  for (const { allowlistId, processes: without } of notFollowed.slice(0, MOST_NAMED))
    note(`${allowlistId} is not in the memory of ${namesOf(processes, without)}`)
  if (notFollowed.length > MOST_NAMED) note(`and ${notFollowed.length - MOST_NAMED} more lists`)
}

function namesOf(processes: readonly FleetProcess[], ids: readonly string[]): string {
  const names = processes.filter(({ id }) => ids.includes(id)).map(({ name, pid }) => `${name} (${pid})`)
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return names.slice(0, MOST_NAMED).join(', ') + more
}
