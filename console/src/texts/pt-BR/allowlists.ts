import type { allowlists as en } from '../en/allowlists.js'

export const allowlists: typeof en = {
  title: 'Allowlists',
}
