// A directory of keys over PostgreSQL: GET, PUT and DELETE /entries/{type}/{value}. `?cache=off` asks the database.
import { createServer } from 'node:http'
import { isCatracaError } from 'catraca'
import { dictCache, pixKey } from 'catraca/dict'

const COLUMNS = 'id, key_type, key_value, account_ispb, account_number, status, created_at'

export async function createTable(pool) {
  await pool.query(`CREATE TABLE entries (
    id uuid PRIMARY KEY, key_type text NOT NULL, key_value text NOT NULL, account_ispb text NOT NULL,
    account_number text NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (key_type, key_value))`)
}

/** What the sources call write-through and invalidation is what `dict.entries` does. */
export function dictService({ catraca, pool }) {
  const dict = dictCache(catraca.cache, { staleMs: 60_000 })
  const counts = { databaseReads: 0 }

  async function find({ key_type, key_value }) {
    counts.databaseReads++
    const text = `SELECT ${COLUMNS} FROM entries WHERE key_type = $1 AND key_value = $2`
    const { rows } = await pool.query({ name: 'find', text, values: [key_type, key_value] })
    // A cached value is JSON: of a Date, which JSON would make text of, its text.
    return rows[0] && { ...rows[0], created_at: rows[0].created_at.toISOString() }
  }

  function write({ id, key_type, key_value, account_ispb, account_number, status, created_at }) {
    const values = [id, key_type, key_value, account_ispb, account_number, status, created_at]
    return pool.query(
      `INSERT INTO entries (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (id) DO UPDATE SET account_ispb = $4, account_number = $5, status = $6`,
      values,
    )
  }

  async function answer(request, url) {
    const [key_type, key_value] = url.pathname.split('/').slice(2).map(decodeURIComponent)
    const key = pixKey({ key_type, key_value })
    if (request.method === 'GET') {
      const isOff = url.searchParams.get('cache') === 'off'
      const entry = isOff ? await find(key) : await dict.entries.byKey(key, find)
      return entry === undefined ? { status: 404 } : { status: 200, body: entry }
    }
    if (request.method === 'PUT') {
      const entry = { ...JSON.parse(await textOf(request)), ...key }
      await dict.entries.save(entry, () => write(entry))
      return { status: 204 }
    }
    if (request.method === 'DELETE') {
      const entry = await find(key)
      if (entry === undefined) return { status: 404 }
      await dict.entries.delete(entry, () => pool.query('DELETE FROM entries WHERE id = $1', [entry.id]))
      return { status: 204 }
    }
    return { status: 405 }
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost')
    const { status, body } = await answer(request, url).catch((error) => failure(error))
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  return { server, counts, dict }
}

function failure(error) {
  if (isCatracaError(error, 'INVALID_INPUT') || error instanceof SyntaxError)
    return { status: 400, body: { detail: error.message } }
  return { status: 500, body: { detail: 'the directory does not answer' } }
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request)
    if ((text += chunk).length > 10_000) throw new SyntaxError('the body is too large')
  return text
}
