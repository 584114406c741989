import { allowlists } from './en/allowlists.js'
import { audit } from './en/audit.js'
import { check } from './en/check.js'
import { common } from './en/common.js'
import { fleet } from './en/fleet.js'
import { guards } from './en/guards.js'
import { jump } from './en/jump.js'
import { limits } from './en/limits.js'
import { overview } from './en/overview.js'
import { settings } from './en/settings.js'
import { signIn } from './en/sign-in.js'
import { waves } from './en/waves.js'

/** All texts of the console. The other languages have this type, so that a missing text is a type error. */
export const en = {
  allowlists,
  audit,
  check,
  common,
  fleet,
  guards,
  jump,
  limits,
  overview,
  settings,
  signIn,
  waves,
}

export type Texts = typeof en
