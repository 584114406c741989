import type { jump as en } from '../en/jump.js'

export const jump: typeof en = {
  title: 'Ir para',
  open: 'Buscar',
  placeholder: 'Página, lista, limite, cliente, trava …',
  found: 'Resultados',
  nothing: 'Nada encontrado.',
  page: 'Página',
  limit: 'Limite',
  customer: 'Consultar este cliente',
  lock: 'Procurar esta trava',
  audit: 'Buscar na auditoria',
}
