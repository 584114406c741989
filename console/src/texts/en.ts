import { common } from './en/common.js'
import { signIn } from './en/sign-in.js'

/** All texts of the console. The other languages have this type, so that a missing text is a type error. */
export const en = { common, signIn }

export type Texts = typeof en
