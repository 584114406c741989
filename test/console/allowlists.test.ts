import { loadTests } from '../support/console.js'

loadTests(new URL('./allowlists/', import.meta.url))
