import type { Texts } from './en.js'
import { allowlists } from './pt-BR/allowlists.js'
import { audit } from './pt-BR/audit.js'
import { check } from './pt-BR/check.js'
import { common } from './pt-BR/common.js'
import { fleet } from './pt-BR/fleet.js'
import { guards } from './pt-BR/guards.js'
import { jump } from './pt-BR/jump.js'
import { limits } from './pt-BR/limits.js'
import { overview } from './pt-BR/overview.js'
import { settings } from './pt-BR/settings.js'
import { signIn } from './pt-BR/sign-in.js'
import { waves } from './pt-BR/waves.js'

export const ptBR: Texts = {
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
