import type { limits as en } from '../en/limits.js'

export const limits: typeof en = {
  title: 'Limites',
}
