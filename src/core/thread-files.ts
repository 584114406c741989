import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { CatracaError } from './errors.js'

/** Starts a thread of the product. An application that bundled Catraca may have left the files of threads behind. */
export function startThread(file: URL, workerData: unknown): Worker {
  if (!existsSync(file))
    throw new CatracaError(
      'PACKAGE_MISSING',
      'this application was bundled with catraca and runs without its files: keep the package beside the bundle, or leave it out of the bundle (with esbuild: --external:catraca)',
      { facts: { package: 'catraca' } },
    )
  // Without the flags of this process: some, such as --input-type, apply only to its entry file.
  return new Worker(file, { workerData, execArgv: [] })
}
