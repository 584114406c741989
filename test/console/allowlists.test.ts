import { loadTests } from '../support/console.js'

await loadTests(new URL('./allowlists/', import.meta.url))
