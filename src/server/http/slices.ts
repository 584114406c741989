import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { takeBefore, usableEvent } from './connections.js'
import { Pipelines } from './pipelines.js'

/** Some seventy of the smallest requests: about two milliseconds. A body arrives a little slower with smaller ones. */
const SLICE_BYTES = 2 * 1024

const KNOWN = new WeakSet<Socket>()

/** The caller has shown a valid key: this connection is read as Node does it. Called before Node gets the connection. */
export function readWhole(socket: Socket): void {
  KNOWN.add(socket)
}

/**
 * Gives Node's HTTP parser a little at a time of what strangers send. A connection is read in pieces of up to 64 KiB, which
 * may hold two thousand requests, and Node would parse all of them although the first ones already have to wait
 * (`pipelines.ts`). It costs each request a tenth of its time, because Node then reads in JavaScript.
 */
export function readInSlices(server: Server): void {
  takeBefore(server, usableEvent(server), (socket, attach) => {
    attach()
    if (KNOWN.has(socket)) return
    const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[]
    if (parse === undefined) return
    socket.off('data', parse)
    socket.on('data', (chunk: Buffer) => feed(socket, chunk, parse))
  })
}

/**
 * Node takes the parser away from a connection when it is over, or when a `CONNECT` came, and gives it to another
 * connection: what still comes must not reach it.
 */
const hasParser = (socket: Socket & { parser?: unknown }): boolean => socket.parser != null

function feed(socket: Socket, chunk: Buffer, parse: (chunk: Buffer) => void): void {
  for (let at = 0; at < chunk.length && hasParser(socket); at += SLICE_BYTES) {
    if (at > 0 && Pipelines.isFull(socket)) {
      socket.pause()
      socket.unshift(chunk.subarray(at))
      return
    }
    parse.call(socket, chunk.subarray(at, at + SLICE_BYTES))
  }
}
