import { type Command, Option } from 'commander'
import { invalid } from '../../../core/errors.js'
import type { WaveConfig, WaveStrategy } from '../../../guards/allowlist/types.js'
import type { Field } from '../../../guards/allowlist/wave/field.js'
import { FIELDS, ownerOf, STRATEGIES, STRATEGY_NAMES } from '../../../guards/allowlist/wave/strategies.js'
import { jsonObject, list, share, step, time } from './parse.js'

/** The rule of a wave, as one JSON object or as single options, which have the names of `FIELDS[…].option`. */
export interface WaveFlags {
  config?: Record<string, unknown>
  strategy?: WaveStrategy
  [option: string]: unknown
}

const PARSERS: Record<Field<unknown>['option'][1], (text: string, before: never) => unknown> = {
  ...{ list, share, step, time },
  id: (text) => text,
}

const fieldOptions = () =>
  Object.entries(FIELDS).map(([name, { option: said }]) => {
    const [flags, as, help] = said
    const option = new Option(flags, help).argParser(PARSERS[as] as (text: string) => unknown)
    return { name, option, flag: option.attributeName() }
  })

export function addWaveOptions(command: Command): Command {
  const fields = fieldOptions()
  command
    .addOption(
      new Option('--config <json>', 'rule of an ONDA list as a JSON object, or @FILE')
        .argParser(jsonObject)
        .conflicts(['strategy', ...fields.map(({ flag }) => flag)]),
    )
    .addOption(
      new Option(
        '--strategy <strategy>',
        'strategy of the rule; derived from the other options when absent',
      ).choices(STRATEGY_NAMES),
    )
  for (const { option } of fields) command.addOption(option)
  return command
}

/** The rule that the options state; undefined when none was given. The library validates it. */
export function waveConfig({ config, strategy, ...flags }: WaveFlags): WaveConfig | undefined {
  if (config !== undefined) return config as unknown as WaveConfig
  const given = new Map(
    fieldOptions().flatMap(({ name, flag }) => (flags[flag] === undefined ? [] : [[name, flags[flag]]])),
  )
  if (strategy === undefined && given.size === 0) return undefined
  return { strategy: strategy ?? inferStrategy(given), ...Object.fromEntries(given) }
}

/** The strategy that a given field belongs to, or one that needs no more than what is given. */
function inferStrategy(given: ReadonlyMap<string, unknown>): WaveStrategy {
  const strategy =
    ownerOf([...given.keys()]) ?? STRATEGY_NAMES.find((name) => STRATEGIES[name].missing(given) === undefined)
  if (strategy === undefined) throw invalid('--strategy', 'is required: the options do not determine it')
  return strategy
}

/** One line for a reader; `--json` has the exact values. */
export function describeWave(config: WaveConfig): string {
  const values = new Map<string, unknown>(Object.entries(config))
  const parts = Object.entries(FIELDS).flatMap(([name, field]) =>
    values.has(name) ? field.describe(values.get(name)) : [],
  )
  return [config.strategy, ...parts].join('; ')
}
