import { type Command, Option } from 'commander'
import { isoTime } from '../../../core/clock.js'
import { invalid } from '../../../core/errors.js'
import type { WaveConfig, WaveStrategy } from '../../../guards/allowlist/types.js'
import { jsonObject, list, type Step, share, step, time } from './parse.js'

/** The rule of a wave, as one JSON object or as single options. */
export interface WaveFlags {
  config?: Record<string, unknown>
  strategy?: WaveStrategy
  percentage?: number
  customers?: string[]
  start?: number
  end?: number
  step?: Step[]
  base?: string
  exclude?: string[]
}

const SINGLE = ['strategy', 'percentage', 'customers', 'start', 'end', 'step', 'base', 'exclude'] as const

export function addWaveOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--config <json>', 'rule of an ONDA list as a JSON object, or @FILE')
        .argParser(jsonObject)
        .conflicts([...SINGLE]),
    )
    .addOption(
      new Option(
        '--strategy <strategy>',
        'strategy of the rule; derived from the other options when absent',
      ).choices(['PERCENTAGE', 'TIME_WINDOW', 'EXPLICIT_LIST']),
    )
    .option('--percentage <share>', 'share of customers that may pass, 0 to 1', share)
    .option('--customers <ids>', 'customers that may pass, separated by commas', list)
    .option('--start <time>', 'the wave opens at this time', time)
    .option('--end <time>', 'the wave closes at this time', time)
    .option('--step <time=share>', 'from TIME on, SHARE of the customers may pass; may be repeated', step)
    .option('--base <id>', 'only customers who pass this allowlist')
    .option('--exclude <ids>', 'no customer who passes one of these allowlists', list)
}

/** The rule that the options state; undefined when none was given. The library validates it. */
export function waveConfig(flags: WaveFlags): WaveConfig | undefined {
  if (flags.config !== undefined) return flags.config as unknown as WaveConfig
  if (SINGLE.every((name) => flags[name] === undefined)) return undefined
  return {
    strategy: flags.strategy ?? inferStrategy(flags),
    ...(flags.percentage !== undefined && { percentage: flags.percentage }),
    ...(flags.customers && { customerIds: flags.customers }),
    ...(flags.start !== undefined && { startTime: flags.start }),
    ...(flags.end !== undefined && { endTime: flags.end }),
    ...(flags.step && { ramp: flags.step }),
    ...(flags.base !== undefined && { base: flags.base }),
    ...(flags.exclude && { exclude: flags.exclude }),
  }
}

function inferStrategy({ percentage, step: steps, customers, start, end }: WaveFlags): WaveStrategy {
  if (percentage !== undefined || steps) return 'PERCENTAGE'
  if (customers) return 'EXPLICIT_LIST'
  if (start !== undefined || end !== undefined) return 'TIME_WINDOW'
  throw invalid('--strategy', 'is required: the options do not determine it')
}

/** One line for a reader; `--json` has the exact values. */
export function describeWave(config: WaveConfig): string {
  const parts: string[] = [config.strategy]
  if (config.percentage !== undefined) parts.push(percent(config.percentage))
  for (const { at, percentage } of config.ramp ?? []) parts.push(`${percent(percentage)} from ${isoTime(at)}`)
  if (config.customerIds) parts.push(`${config.customerIds.length} customers`)
  if (config.startTime !== undefined) parts.push(`opens ${isoTime(config.startTime)}`)
  if (config.endTime !== undefined) parts.push(`closes ${isoTime(config.endTime)}`)
  if (config.base !== undefined) parts.push(`base ${config.base}`)
  if (config.exclude) parts.push(`without ${config.exclude.join(', ')}`)
  return parts.join('; ')
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(6))} %`
}
