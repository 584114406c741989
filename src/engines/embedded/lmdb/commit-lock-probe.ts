import { lockOptions } from './commit-lock.js'
import { openLmdb } from './open-lmdb.js'

// Ends when the lock was free for a moment: opening takes it once.
openLmdb(lockOptions(process.argv[2]!))
