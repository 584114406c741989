import { loadTests } from '../support/console.js'

await loadTests(new URL('./limits/', import.meta.url))
