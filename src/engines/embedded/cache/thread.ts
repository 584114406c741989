import { workerData } from 'node:worker_threads'
import { serveCalls } from '../lmdb/thread-calls.js'
import { type CacheEnvironmentOptions, openCacheStores } from './link.js'

/**
 * The thread that writes the cache. Its environment is separate, so it never waits for a list write to reach the
 * disk.
 */
serveCalls(openCacheStores(workerData as CacheEnvironmentOptions))
