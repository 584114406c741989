import { lockOptions } from './commit-lock.js'
import { openLmdb } from './open-lmdb.js'

// Opening takes the lock once, so this process exits as soon as the lock was free for a moment.
openLmdb(lockOptions(process.argv[2]!))
