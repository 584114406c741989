import { workerData } from 'node:worker_threads'
import { serveCalls } from '../lmdb/thread-calls.js'
import { type CacheEnvironmentOptions, openCacheStores } from './link.js'

/** Writes the cache, in an environment of its own: no list that is written to the disk keeps it waiting. */
serveCalls(openCacheStores(workerData as CacheEnvironmentOptions))
