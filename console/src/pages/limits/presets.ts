import { DICT_LIMITS } from '../../../../src/guards/rate-limit/presets.js'
import type { LevelConfig } from './model.js'

export type PresetName = keyof typeof DICT_LIMITS

export const PRESETS = Object.keys(DICT_LIMITS) as PresetName[]

export function presetOf(name: string | null): LevelConfig | undefined {
  return name !== null && Object.hasOwn(DICT_LIMITS, name) ? DICT_LIMITS[name as PresetName] : undefined
}
