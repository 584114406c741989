import { workerData } from 'node:worker_threads'
import { openStores } from '../stores.js'
import type { EnvironmentOptions } from './environment.js'
import { serveCalls } from './thread-calls.js'

/**
 * The thread that writes. LMDB has one write lock for all processes, and waiting for it blocks: if somebody
 * holds it and is stopped, only writes wait, and the thread that answers checks does not.
 */
serveCalls(openStores(workerData as EnvironmentOptions))
