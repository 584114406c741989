import { workerData } from 'node:worker_threads'
import { type CacheEnvironmentOptions, openCacheStores } from './cache-link.js'
import { serveCalls } from './thread-calls.js'

/** Writes the cache, in an environment of its own: no list that is written to the disk keeps it waiting. */
serveCalls(openCacheStores(workerData as CacheEnvironmentOptions))
