import type { Texts } from './en.js'
import { common } from './pt-BR/common.js'
import { signIn } from './pt-BR/sign-in.js'

export const ptBR: Texts = { common, signIn }
