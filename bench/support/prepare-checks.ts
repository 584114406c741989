import { openCatraca } from '../../src/app/open-catraca.js'

/** A store for checks over HTTP: `vip` with so many members, `wave` for half of all. Answers an API key. */
export async function prepareChecks(store: string, members: number): Promise<string> {
  console.log(`importing ${members} customers`)
  const catraca = await openCatraca({ store })
  try {
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
    await catraca.allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await catraca.allowlists.import('vip', customerLines(members), { format: 'text' })
    // As a server finds it that has run before: the index is built, and known to be in use.
    await catraca.allowlists.rebuild('vip')
    await catraca.allowlists.check(numberedCustomer(0), ['vip', 'wave'])
    const { key } = await catraca.keys.create({ name: 'bench', scopes: ['check'] })
    return key
  } finally {
    await catraca.close()
  }
}

/** The same numbering as in http-check.lua. */
export function numberedCustomer(i: number): string {
  const mixed = ((i * 800_000_011) % 2 ** 32).toString(16).padStart(8, '0')
  return `${mixed}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
}

async function* customerLines(members: number): AsyncGenerator<Uint8Array> {
  const LINES_PER_CHUNK = 2000
  for (let start = 0; start < members; start += LINES_PER_CHUNK) {
    let text = ''
    for (let i = start; i < Math.min(start + LINES_PER_CHUNK, members); i++)
      text += `${numberedCustomer(i)}\n`
    yield Buffer.from(text, 'latin1')
  }
}
