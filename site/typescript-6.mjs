// TypeDoc cannot use TypeScript 7 yet, so `typescript` means version 6 for all that is imported after this file.
// Version 6 is installed as `typescript-6`.
import { register } from 'node:module'

const hooks = `export const resolve = (name, context, next) =>
  next(name === 'typescript' ? 'typescript-6' : name, context)`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
