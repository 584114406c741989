import { loadTests } from '../support/console.js'

loadTests(new URL('./limits/', import.meta.url))
