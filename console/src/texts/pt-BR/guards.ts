import type { guards as en } from '../en/guards.js'

export const guards: typeof en = {
  title: 'Proteções',
}
