import { parentPort, workerData } from 'node:worker_threads'
import { WHOLE_LIST } from './directory.js'
import { type PageKind, PageMaker } from './page-maker.js'
import type { Bucket } from './partition.js'

/** The other end of `page-pool.ts`: a bucket comes in, its pages go out. */
const maker = new PageMaker(workerData as PageKind)

// The thread has nothing to do while the customers are being added: let the compiler see the work beforehand.
const WARM_UP_HASHES = 30_000
for (let round = 0; round < 3; round++) {
  const hashes = new Uint32Array(2 * WARM_UP_HASHES)
  for (let i = 0; i < hashes.length; i++) hashes[i] = Math.imul(i + round * hashes.length, 0x9e3779b1)
  maker.make({ range: WHOLE_LIST, count: WARM_UP_HASHES, chunks: [hashes] })
}

parentPort!.on('message', (bucket: Bucket) => parentPort!.postMessage(maker.make(bucket)))
