import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './pinned.js'

/** The yardstick: node:http with a fixed body of the given size. */
const body = JSON.stringify({ filler: 'x'.repeat(Number(process.argv[2]) - '{"filler":""}'.length) })
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length }

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  serveParent(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
