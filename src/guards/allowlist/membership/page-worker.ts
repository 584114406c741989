import { parentPort, workerData } from 'node:worker_threads'
import { WHOLE_LIST } from './directory.js'
import { type PageKind, PageMaker } from './page-maker.js'
import type { Bucket } from './partition.js'

/** The worker of `page-pool.ts`: receives a bucket, returns its pages. */
const maker = new PageMaker(workerData as PageKind)

// The thread is idle while customers are added, so run some work now to let the JIT compile it.
const WARM_UP_HASHES = 30_000
for (let round = 0; round < 3; round++) {
  const hashes = new Uint32Array(2 * WARM_UP_HASHES)
  for (let i = 0; i < hashes.length; i++) hashes[i] = Math.imul(i + round * hashes.length, 0x9e3779b1)
  maker.make({ range: WHOLE_LIST, count: WARM_UP_HASHES, chunks: [hashes] })
}

parentPort!.on('message', (bucket: Bucket) => parentPort!.postMessage(maker.make(bucket)))
