import { loadTests } from '../support/console.js'

await loadTests(new URL('./others/', import.meta.url))
