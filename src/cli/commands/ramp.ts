import { type Command, Option } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import type { Allowlist, RampStep, WaveConfig } from '../../guards/allowlist/types.js'
import { printList } from './lists.js'
import { share, step } from './support/parse.js'
import { type CommonOptions, changeCommand, withSession } from './support/session.js'

interface RampFlags extends CommonOptions {
  to?: number
  step?: RampStep[]
  clear?: boolean
  pause?: boolean
}

const WAYS = ['to', 'step', 'clear', 'pause'] as const

export function addRampCommand(allowlist: Command): void {
  const way = (flags: string, description: string, own: (typeof WAYS)[number]) =>
    new Option(flags, description).conflicts(WAYS.filter((other) => other !== own))
  changeCommand(allowlist, 'ramp <id>', 'open a PERCENTAGE wave further, now or by steps')
    .addOption(way('--to <share>', 'open to this share now, without further steps', 'to').argParser(share))
    .addOption(
      way(
        '--step <time=share>',
        'from TIME on, SHARE of the customers may pass; may be repeated',
        'step',
      ).argParser(step),
    )
    .addOption(way('--clear', 'remove the steps; the percentage of the rule applies', 'clear'))
    .addOption(way('--pause', 'no customer passes: the same as `allowlist pause`', 'pause'))
    .action(ramp)
}

function ramp(id: string, flags: RampFlags): Promise<void> {
  if (WAYS.every((way) => flags[way] === undefined)) {
    throw invalid('options', 'must be one of --to, --step, --clear and --pause')
  }
  return withSession(flags, async ({ allowlists, json }) => {
    if (flags.pause) return printList(await allowlists.pause(id), json)
    const list = await allowlists.get(id)
    const change = { config: ramped(list, flags) }
    // The version that was read: a change that another user made meanwhile is not overwritten.
    printList(await allowlists.update(id, change, { ifVersion: list.version }), json)
  })
}

function ramped({ id, config }: Allowlist, flags: RampFlags): WaveConfig {
  if (config?.strategy !== 'PERCENTAGE') {
    throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${id} is no ONDA list with the strategy PERCENTAGE`)
  }
  const { ramp: _, ...rule } = config
  if (flags.step) return { ...rule, ramp: flags.step }
  if (flags.clear) return rule
  return { ...rule, percentage: flags.to! }
}
