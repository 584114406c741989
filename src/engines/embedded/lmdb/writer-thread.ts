import { workerData } from 'node:worker_threads'
import { openStores } from '../stores.js'
import type { EnvironmentOptions } from './environment.js'
import { serveCalls } from './thread-calls.js'

/**
 * The writer thread. LMDB has one write lock for all processes, and waiting for it blocks the thread. If the holder
 * is a stopped process, only writes wait; the thread that answers checks does not.
 */
serveCalls(openStores(workerData as EnvironmentOptions))
