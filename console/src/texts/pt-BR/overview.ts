import type { overview as en } from '../en/overview.js'

export const overview: typeof en = {
  title: 'Visão geral',
}
